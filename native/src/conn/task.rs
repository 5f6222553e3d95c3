//! Stub until core's link is there.
use super::{Clock, Order};
use evenkeel_core::consumer::io::Input;
use evenkeel_core::model::Address;
use tokio::sync::mpsc;

pub(super) struct Task {
    orders: mpsc::Receiver<Order>,
}

impl Task {
    pub(super) fn new(_to: Address, _clock: Clock, orders: mpsc::Receiver<Order>, _arrivals: mpsc::Sender<Input>) -> Self {
        Self { orders }
    }
    pub(super) async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            drop(order);
        }
    }
}
