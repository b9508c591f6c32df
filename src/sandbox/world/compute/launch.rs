//! One launch: every rule of parameters first, capacity last, then the machine with its interfaces and disks. Must never leave
//! half a machine.

use super::{
    Deed, Instance, Market,
    disk::{self, NewDisk},
    instance::Attached,
    instance_type::architecture_name,
    layout::{self, NewSeat},
    market::Wanted,
    order::Order,
};
use crate::{
    catalog::{Catalog, InstanceType, Placement},
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            World,
            ec2::{find, invalid},
            network::{Holder, NewInterface},
        },
    },
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A machine of which everything but capacity is known to be right.
#[derive(Clone, Debug)]
pub struct Machine {
    pub instance_type: String,
    pub image: String,
    pub vpc: String,
    pub subnet: String,
    /// Zone id.
    pub zone: String,
    pub seats: Vec<NewSeat>,
    pub disks: Vec<NewDisk>,
    /// Id of the placement group.
    pub group: Option<String>,
    pub partition: Option<u32>,
    pub market: Market,
    pub wanted: Wanted,
    pub tags: BTreeMap<String, Tags>,
    pub metadata: Value,
    pub profile: Option<String>,
    pub key: Option<String>,
    pub user_data: Option<String>,
    pub client_token: Option<String>,
    pub protected: bool,
    pub operator: Option<String>,
}

fn missing(name: &str) -> Fault {
    Fault::new("MissingParameter", format!("The request must contain the parameter {name}"))
}

impl World {
    /// Checks a launch by the members of RunInstances, with everything that EC2 looks at before capacity. `subnet` is where a
    /// fleet or a scaling group wants it.
    pub fn prepare(&self, region: &str, request: &Value, subnet: Option<&str>) -> Result<Machine, Fault> {
        let order = Order::read(self, region, request, subnet)?;
        let image_id = order.text(&["ImageId"]).ok_or_else(|| missing("ImageId"))?;
        let image = self.image(region, image_id)?;
        let instance_type = order.text(&["InstanceType"]).ok_or_else(|| missing("InstanceType"))?;
        let known = Catalog::compiled().instance_type(instance_type).ok_or_else(|| {
            let message = "The requested configuration is currently not supported. Please check the documentation for supported \
                           configurations.";
            Fault::new("Unsupported", message)
        })?;
        match_architecture(known, &image.architecture)?;
        let net = self.net(region);
        let seats = layout::read(&order.data, net)?;
        layout::judge(&seats)?;
        layout::fit(&seats, known)?;
        let primary = seats.iter().find(|seat| (seat.card, seat.device) == (0, 0));
        let subnet_id = primary.map(|seat| seat.subnet.clone()).unwrap_or_default();
        let subnet = net.subnet(&subnet_id)?;
        for seat in &seats {
            if net.subnet(&seat.subnet)?.zone != subnet.zone {
                let message = "All network interfaces must be in the same Availability Zone.";
                return Err(Fault::new("InvalidParameterCombination", message));
            }
        }
        self.match_zone(region, &order, &subnet.zone)?;
        self.offered(region, instance_type, &subnet.zone)?;
        let partition = order.data.get("Placement").and_then(|placement| super::number(placement, "PartitionNumber"));
        let group = self.stand_in(region, &order, known, &subnet.zone, partition)?;
        let (market, wanted) = self.pay(region, &order)?;
        refuse_slashes(&order)?;
        let text = |path: &[&str]| order.text(path).map(str::to_owned);
        let profile = match (order.text(&["IamInstanceProfile", "Name"]), order.text(&["IamInstanceProfile", "Arn"])) {
            (None, None) => None,
            (name, arn) => Some(self.instance_profile(name, arn)?),
        };
        Ok(Machine {
            instance_type: instance_type.to_owned(),
            image: image_id.to_owned(),
            vpc: subnet.vpc.clone(),
            zone: subnet.zone.clone(),
            subnet: subnet_id,
            disks: disk::read(&order.data, &image)?,
            seats,
            group,
            partition,
            market,
            wanted,
            metadata: order.data.get("MetadataOptions").cloned().unwrap_or(Value::Null),
            profile,
            key: text(&["KeyName"]),
            user_data: text(&["UserData"]),
            client_token: text(&["ClientToken"]),
            protected: order.data.get("DisableApiTermination").and_then(Value::as_bool).unwrap_or(false),
            operator: text(&["Operator", "Principal"]),
            tags: order.tags,
        })
    }

    /// Starts `least` to `most` of a machine, each with capacity of its own; none where not even `least` can be had.
    pub fn start(&mut self, region: &str, machine: &Machine, least: usize, most: usize) -> Result<Vec<String>, Fault> {
        let batch = self.id("r");
        let mut started = vec![];
        while started.len() < most {
            match self.start_one(region, machine, &batch, started.len()) {
                Ok(id) => started.push(id),
                Err(_) if started.len() >= least.max(1) => break,
                Err(fault) => {
                    started.iter().for_each(|id: &String| self.erase(region, id));
                    return Err(fault);
                }
            }
        }
        started.iter().try_for_each(|id| self.boot(region, id))?;
        Ok(started)
    }

    fn start_one(
        &mut self,
        region: &str,
        machine: &Machine,
        batch: &str,
        launch_index: usize,
    ) -> Result<String, Fault> {
        // Another of the same call may have filled it.
        if let Some(group) = &machine.group {
            self.machines(region).place(group, &machine.zone, machine.partition)?;
        }
        let reservation = self.room_for(region, machine)?;
        let id = self.id("i");
        let instance = Instance {
            instance_type: machine.instance_type.clone(),
            image: machine.image.clone(),
            batch: batch.to_owned(),
            launch_index,
            vpc: machine.vpc.clone(),
            subnet: machine.subnet.clone(),
            zone: machine.zone.clone(),
            zone_name: self.zone_name(region, &machine.zone),
            state: "pending".to_owned(),
            reason: None,
            launched: self.now,
            ending: None,
            group: machine.group.clone(),
            partition: machine.partition,
            market: machine.market,
            reservation,
            disks: vec![],
            metadata: machine.metadata.clone(),
            profile: machine.profile.clone(),
            key: machine.key.clone(),
            user_data: machine.user_data.clone(),
            client_token: machine.client_token.clone(),
            protected: machine.protected,
            operator: machine.operator.clone(),
        };
        let tags = |kind: &str| machine.tags.get(kind).cloned().unwrap_or_default();
        self.machines_mut(region).instances.insert(id.clone(), instance);
        self.register(region, "instance", &id, tags("instance"));
        if let Err(fault) = self.furnish(region, &id, machine) {
            self.erase(region, &id);
            return Err(fault);
        }
        Ok(id)
    }

    fn furnish(&mut self, region: &str, id: &str, machine: &Machine) -> Result<(), Fault> {
        let tags = |kind: &str| machine.tags.get(kind).cloned().unwrap_or_default();
        for seat in &machine.seats {
            let interface = match &seat.existing {
                Some(existing) => existing.clone(),
                None => self.make_interface(
                    region,
                    &NewInterface {
                        subnet: &seat.subnet,
                        groups: &seat.groups,
                        kind: &seat.kind,
                        description: &seat.description,
                        addresses: seat.addresses,
                        requester: None,
                        tags: tags("network-interface"),
                    },
                )?,
            };
            let holder = Holder::Instance {
                id,
                device: seat.device,
                card: seat.card,
                delete_on_termination: seat.delete_on_termination,
            };
            self.attach_interface(region, &interface, holder);
            let lent = seat.public.unwrap_or_else(|| {
                machine.seats.len() == 1
                    && self.net(region).subnet(&seat.subnet).is_ok_and(|subnet| subnet.map_public_ip)
            });
            if lent && seat.kind != "efa-only" {
                self.map_public(region, &interface, None);
            }
        }
        for disk in &machine.disks {
            let volume = self.make_volume(region, &machine.zone, &disk.volume, tags("volume"))?;
            self.attach_volume(region, &volume, id, &disk.device, disk.delete_on_termination);
            let deed = Deed::VolumeComes { region: region.to_owned(), id: volume.clone() };
            crate::sandbox::world::compute::happen(self, deed);
            if let Some(instance) = self.machines_mut(region).instances.get_mut(id) {
                instance.disks.push(Attached { device: disk.device.clone(), volume });
            }
        }
        Ok(())
    }

    fn match_zone(&self, region: &str, order: &Order, zone: &str) -> Result<(), Fault> {
        let letters = self.zone_name(region, zone);
        let by_name = order.text(&["Placement", "AvailabilityZone"]).is_some_and(|name| name != letters);
        let by_id = order.text(&["Placement", "AvailabilityZoneId"]).is_some_and(|id| id != zone);
        if by_name || by_id {
            let message = format!("The availability zone of the request and that of the subnet ({letters}) differ.");
            return Err(invalid(message));
        }
        Ok(())
    }

    fn offered(&self, region: &str, instance_type: &str, zone: &str) -> Result<(), Fault> {
        let Some(offered) = Catalog::compiled().offered_zones(instance_type, region).value else { return Ok(()) };
        if offered.iter().any(|known| known == zone) {
            return Ok(());
        }
        let choice: Vec<_> = offered.iter().map(|zone| self.zone_name(region, zone)).collect();
        let message = format!(
            "Your requested instance type ({instance_type}) is not supported in your requested Availability Zone ({}). Please \
             retry your request by not specifying an Availability Zone or choosing {}.",
            self.zone_name(region, zone),
            choice.join(", ")
        );
        Err(Fault::new("Unsupported", message))
    }

    fn stand_in(
        &self,
        region: &str,
        order: &Order,
        known: &InstanceType,
        zone: &str,
        partition: Option<u32>,
    ) -> Result<Option<String>, Fault> {
        let named = order.text(&["Placement", "GroupName"]).or_else(|| order.text(&["Placement", "GroupId"]));
        let Some(name) = named.filter(|name| !name.is_empty()) else { return Ok(None) };
        let machines = self.machines(region);
        let id = machines.place(name, zone, partition)?;
        let strategy = match machines.group_strategy(&id) {
            Some("cluster") => Placement::Cluster,
            Some("partition") => Placement::Partition,
            _ => Placement::Spread,
        };
        if !known.allows(strategy) {
            let message = format!("Placement groups may not be used with instances of type '{}'.", known.name);
            return Err(Fault::new("InvalidParameterCombination", message));
        }
        Ok(Some(id))
    }

    fn pay(&self, region: &str, order: &Order) -> Result<(Market, Wanted), Fault> {
        let market = match order.text(&["InstanceMarketOptions", "MarketType"]) {
            Some("spot") => Market::Spot,
            Some("capacity-block") => Market::CapacityBlock,
            _ => Market::OnDemand,
        };
        let specification = ["CapacityReservationSpecification", "CapacityReservationPreference"];
        let target =
            order.text(&["CapacityReservationSpecification", "CapacityReservationTarget", "CapacityReservationId"]);
        let wanted = match (target, order.text(&specification)) {
            (Some(_), Some(_)) if order.text(&specification) != Some("capacity-reservations-only") => {
                let message = "CapacityReservationPreference and CapacityReservationTarget cannot both be specified.";
                return Err(Fault::new("InvalidParameterCombination", message));
            }
            (Some(id), _) => Wanted::Target(id.to_owned()),
            (None, Some("none")) => Wanted::None,
            (None, Some("capacity-reservations-only")) => Wanted::Only,
            (None, _) => Wanted::Open,
        };
        let block = match &wanted {
            Wanted::Target(id) => Some(find(&self.machines(region).reservations, id)?.block),
            _ => None,
        };
        let combination = |message: &str| Err(Fault::new("InvalidParameterCombination", message));
        match (market, block) {
            (Market::CapacityBlock, Some(true)) | (Market::OnDemand, Some(false) | None) | (Market::Spot, None) => {
                Ok((market, wanted))
            }
            (Market::CapacityBlock, None) => {
                combination("A capacity block must be targeted when the market type is capacity-block.")
            }
            (Market::CapacityBlock, Some(false)) => {
                combination("The market type capacity-block cannot be used with an On-Demand capacity reservation.")
            }
            (Market::OnDemand, Some(true)) => {
                combination("The market type must be capacity-block to launch into a capacity block.")
            }
            (Market::Spot, Some(_)) => combination("Spot Instances cannot be launched into a capacity reservation."),
        }
    }
}

fn match_architecture(known: &InstanceType, of_image: &str) -> Result<(), Fault> {
    let names: Vec<_> = known.architectures.iter().map(|architecture| architecture_name(*architecture)).collect();
    if names.contains(&of_image) {
        return Ok(());
    }
    Err(invalid(format!(
        "The architecture '{}' of the specified instance type does not match the architecture '{of_image}' of the specified \
         AMI. Specify an instance type and an AMI that have matching architectures, and try again. You can use \
         'describe-instance-types' or 'describe-images' to discover the architecture of the instance type or AMI.",
        names.join(",")
    )))
}

/// Instance metadata serves tags under paths.
fn refuse_slashes(order: &Order) -> Result<(), Fault> {
    if order.text(&["MetadataOptions", "InstanceMetadataTags"]) != Some("enabled") {
        return Ok(());
    }
    let own = order.tags.get("instance").into_iter().flat_map(Tags::keys);
    match own.into_iter().find(|key| key.contains('/') || key.contains(' ')) {
        Some(key) => Err(invalid(format!(
            "'{key}' is not a valid tag key. Tag keys must match pattern ([0-9a-zA-Z\\-_+=,.@:]{{1,255}}), and must not be a \
             reserved name ('.', '..', '_index')"
        ))),
        None => Ok(()),
    }
}
