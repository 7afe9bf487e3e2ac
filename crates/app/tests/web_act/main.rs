//! Actions over HTTP as a browser sends them, on a store of its own: nothing is written before somebody says so, and all of it
//! can be taken back.

#[cfg(test)]
mod acting;
#[cfg(test)]
mod clicks;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod refused;
#[cfg(test)]
mod site;
