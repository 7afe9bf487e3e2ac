//! Runs the built program as a user would, in a home folder of its own.

#[cfg(test)]
mod branching;
#[cfg(test)]
mod context;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod find;
#[cfg(test)]
mod home;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod index;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod lighter;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod pen;
#[cfg(test)]
mod places;
mod repair;
#[cfg(test)]
mod search;
#[cfg(test)]
mod statusline;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod wiring;
