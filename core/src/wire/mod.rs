//! The RocketMQ remoting protocol: bytes to values and back.
