//! A limited number of places for connections or uploads, which clients cannot use up by doing nothing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How many places there are.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In all.
    pub total: usize,
    /// For one address.
    pub per_address: usize,
    /// Further places, to be used only for what must not wait.
    pub spare: usize,
    /// Who has been idle for this long gives way to others.
    pub idle: Duration,
}

/// Places, and who has them.
#[derive(Debug)]
pub struct Places {
    limits: Limits,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    entries: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    network: IpAddr,
    is_spare: bool,
    /// `None` while it is busy.
    idle_since: Option<Instant>,
    give_way: Arc<Notify>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    id: u64,
    /// Whether it is one of the spare places.
    pub is_spare: bool,
    give_way: Arc<Notify>,
}

impl Places {
    pub fn new(limits: Limits) -> Arc<Places> {
        Arc::new(Places { limits, taken: Mutex::default() })
    }

    /// A place; `None` if even the spare places are taken.
    ///
    /// At a limit, whoever has been idle for longest gives way. If nobody is idle, there are spare places.
    pub fn take(self: &Arc<Places>, address: IpAddr) -> Option<Place> {
        let Limits { total, per_address, spare, idle } = self.limits;
        let network = network(address);
        let mut taken = self.lock();
        let is_rival = |entry: &Entry| !entry.is_spare && entry.network == network;
        let is_free = if taken.count(is_rival) >= per_address {
            taken.vacate(idle, is_rival)
        } else {
            taken.count(|entry| !entry.is_spare) < total || taken.vacate(idle, |entry| !entry.is_spare)
        };
        let is_spare = !is_free;
        if is_spare
            && taken.count(|entry| entry.is_spare) >= spare
            && !taken.vacate(idle, |entry| entry.is_spare)
        {
            return None;
        }
        let id = taken.next;
        taken.next += 1;
        let give_way = Arc::new(Notify::new());
        let entry = Entry { network, is_spare, idle_since: Some(Instant::now()), give_way: give_way.clone() };
        taken.entries.insert(id, entry);
        Some(Place { places: self.clone(), id, is_spare, give_way })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn count(&self, which: impl Fn(&Entry) -> bool) -> usize {
        self.entries.values().filter(|entry| which(entry)).count()
    }

    /// Makes one of these give way: the one that has been idle for longest. Returns false if none has been idle for long
    /// enough.
    fn vacate(&mut self, idle: Duration, which: impl Fn(&Entry) -> bool) -> bool {
        let these = self.entries.iter().filter(|(_, entry)| which(entry));
        let longest = these.filter_map(|(id, entry)| Some((entry.idle_since?, *id))).min();
        let Some((_, id)) = longest.filter(|(since, _)| since.elapsed() >= idle) else { return false };
        if let Some(entry) = self.entries.remove(&id) {
            entry.give_way.notify_one();
        }
        true
    }
}

impl Place {
    /// From now on it does not give way.
    pub fn set_busy(&self) {
        self.set(None);
    }

    pub fn set_idle(&self) {
        self.set_idle_since(Instant::now());
    }

    /// From now on it may give way as if it had been idle since then.
    pub fn set_idle_since(&self, since: Instant) {
        self.set(Some(since));
    }

    /// Waits until the place is needed for another.
    pub async fn needed(&self) {
        self.give_way.notified().await;
    }

    fn set(&self, idle_since: Option<Instant>) {
        if let Some(entry) = self.places.lock().entries.get_mut(&self.id) {
            entry.idle_since = idle_since;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().entries.remove(&self.id);
    }
}

/// What counts as one address: of IPv6, the first half, because a client has all of the other half.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn places(total: usize, per_address: usize) -> Arc<Places> {
        Places::new(Limits { total, per_address, spare: 1, idle: Duration::ZERO })
    }

    /// Whether the place was given to another.
    fn gave_way(place: &Place) -> bool {
        !place.places.lock().entries.contains_key(&place.id)
    }

    #[test]
    fn who_was_idle_for_longest_gives_way() {
        let places = places(3, 9);
        let take = || places.take(HERE).unwrap();
        let (busy, first, second) = (take(), take(), take());
        busy.set_busy();
        first.set_busy();
        first.set_idle();
        let third = take();
        assert!(gave_way(&second) && !gave_way(&first) && !gave_way(&busy) && !third.is_spare);
        assert!(!take().is_spare && gave_way(&first));
    }

    #[test]
    fn a_short_pause_is_not_idleness() {
        let hour = Duration::from_secs(3_600);
        let places = Places::new(Limits { total: 1, per_address: 1, spare: 0, idle: hour });
        let first = places.take(HERE).unwrap();
        assert!(places.take(THERE).is_none() && !gave_way(&first));
        drop(first);
        assert!(places.take(THERE).is_some());
    }

    #[test]
    fn an_address_at_its_limit_takes_no_place_from_others() {
        let places = places(9, 2);
        let there = places.take(THERE).unwrap();
        let here: Vec<Place> = (0..3).map(|_| places.take(HERE).unwrap()).collect();
        assert!(gave_way(&here[0]) && !gave_way(&here[1]) && !here[2].is_spare);
        assert!(!gave_way(&there));
    }

    #[test]
    fn while_all_are_busy_there_are_spare_places() {
        let places = places(1, 1);
        let busy = places.take(HERE).unwrap();
        busy.set_busy();
        let spare = places.take(THERE).unwrap();
        assert!(spare.is_spare);
        let next = places.take(HERE).unwrap();
        assert!(next.is_spare && gave_way(&spare), "an idle one gives way here too");
        next.set_busy();
        assert!(places.take(THERE).is_none());
        drop((next, busy));
        assert!(!places.take(THERE).unwrap().is_spare);
    }

    #[test]
    fn all_addresses_of_a_client_are_one() {
        let same = [("2001:db8:1:2::1", "2001:db8:1:2:ffff::"), ("::ffff:192.0.2.1", "192.0.2.1")];
        for (one, other) in same {
            assert_eq!(network(one.parse().unwrap()), network(other.parse().unwrap()));
        }
        assert_ne!(network("2001:db8:1:2::1".parse().unwrap()), network("2001:db8:1:3::1".parse().unwrap()));
    }
}
