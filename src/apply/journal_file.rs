//! The journal as a local file. Must never return before the line is on the disk.

use super::journal::Journal;
use std::{
    fs::{File, OpenOptions, create_dir_all},
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

pub struct JournalFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl JournalFile {
    /// Opens for appending; directories are made as needed.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        if let Some(directory) = path.parent() {
            create_dir_all(directory)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(file) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Journal for JournalFile {
    fn append(&self, line: &str) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // One write, so that lines of two processes never mix.
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_on_the_disk_when_append_returns() {
        let directory = tempfile::tempdir().unwrap();
        let journal = JournalFile::open(&directory.path().join("a/b/run.jsonl")).unwrap();
        journal.append("one").unwrap();
        JournalFile::open(journal.path()).unwrap().append("two").unwrap();
        assert_eq!(std::fs::read_to_string(journal.path()).unwrap(), "one\ntwo\n");
    }
}
