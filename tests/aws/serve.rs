//! The sandbox on a port, as another process meets it.

use super::{Toy, base, reply};
use infer_stack::sandbox::{Arrival, Reply, serve::serve};
use std::sync::Arc;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Everything that comes back on one connection.
async fn say(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

fn toy() -> Arc<Toy> {
    Toy::new(|_, heard| match heard.path.as_str() {
        "/lost" => Reply { arrival: Arrival::Lost, ..reply(200, "you will not hear this") },
        "/never" => Reply { arrival: Arrival::Never, ..reply(200, "") },
        _ => Reply { delay: 3_600_000, ..reply(200, heard.body.clone()) },
    })
}

#[tokio::test]
async fn answers_arrive_dated_and_an_hour_takes_no_hour() {
    let toy = toy();
    let server = serve(toy.clone(), 0, 3_600_000, base()).await.unwrap();
    assert!(server.address().ip().is_loopback());
    let text = say(server.address(), "/").await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("hello"), "{text}");
    assert!(text.contains("\r\ndate: "), "{text}");
    assert!(toy.heard()[0].at >= base().as_millisecond());
    server.stop().await;
}

#[tokio::test]
async fn a_lost_answer_closes_the_connection() {
    let server = serve(toy(), 0, 1, base()).await.unwrap();
    assert_eq!(say(server.address(), "/lost").await, "");
    server.stop().await;
}

#[tokio::test]
async fn it_stops_although_somebody_waits_for_ever_and_gives_the_port_back() {
    let toy = toy();
    let server = serve(toy.clone(), 0, 1, base()).await.unwrap();
    let address = server.address();
    let waiting = tokio::spawn(async move { say(address, "/never").await });
    while toy.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    server.stop().await;
    assert_eq!(waiting.await.unwrap(), "");
    let again = serve(toy, address.port(), 1, base()).await.unwrap();
    again.stop().await;
}
