//! A queue in which clients take turns, so that one with many requests does not delay another with one.

use std::collections::VecDeque;
use std::net::IpAddr;

/// Waiting items of several clients. Those of one client stay in order.
#[derive(Debug)]
pub struct Turns<T> {
    /// The client at the front is next. None has an empty queue.
    clients: VecDeque<(IpAddr, VecDeque<T>)>,
}

impl<T> Default for Turns<T> {
    fn default() -> Turns<T> {
        Turns { clients: VecDeque::new() }
    }
}

impl<T> Turns<T> {
    pub fn push(&mut self, client: IpAddr, item: T) {
        match self.clients.iter_mut().find(|(known, _)| *known == client) {
            Some((_, items)) => items.push_back(item),
            None => self.clients.push_back((client, VecDeque::from([item]))),
        }
    }

    /// The first item of the client whose turn it is. Then it is the next client's turn.
    pub fn pop(&mut self) -> Option<(IpAddr, T)> {
        let (client, mut items) = self.clients.pop_front()?;
        let item = items.pop_front().expect("no queue is empty");
        if !items.is_empty() {
            self.clients.push_back((client, items));
        }
        Some((client, item))
    }

    /// Removes items that nobody waits for any more.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.clients.retain_mut(|(_, items)| {
            items.retain(&keep);
            !items.is_empty()
        });
    }

    /// The items of all clients.
    pub fn iter(&self) -> impl Iterator<Item = (IpAddr, &T)> {
        self.clients.iter().flat_map(|(client, items)| items.iter().map(|item| (*client, item)))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::net::{IpAddr, Ipv4Addr};

    /// The address of a client.
    pub fn client(number: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, number).into()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::client;
    use super::*;

    #[test]
    fn clients_take_turns() {
        let mut turns = Turns::default();
        for item in 0..4 {
            turns.push(client(1), item);
        }
        turns.push(client(2), 10);
        turns.push(client(3), 20);
        turns.push(client(2), 11);
        let order: Vec<i32> = std::iter::from_fn(|| turns.pop()).map(|(_, item)| item).collect();
        assert_eq!(order, [0, 10, 20, 1, 11, 2, 3]);
    }

    #[test]
    fn a_client_without_items_has_no_turn() {
        let mut turns = Turns::default();
        turns.push(client(1), 1);
        turns.push(client(2), 2);
        turns.retain(|item| *item == 2);
        assert_eq!(turns.iter().count(), 1);
        assert_eq!(turns.pop(), Some((client(2), 2)));
        assert!(turns.pop().is_none());
    }
}
