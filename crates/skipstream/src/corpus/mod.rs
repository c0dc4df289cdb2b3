//! stub
use serde::{Serialize,Deserialize};
/// t
#[derive(Clone,Debug,Default,PartialEq,Serialize,Deserialize)]
pub struct TextOptions {}
impl TextOptions { /// c
pub fn check(&self)->crate::Result<()> {Ok(())} }
