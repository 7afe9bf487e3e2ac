//! Scripts of sessions that several tests share.

/// A session with an edited prompt; its `last-prompt` line pins the newer branch.
pub const EDITED_PROMPT: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: !Bash sort
            u3: =a2 done
              a3: by name it is
        u4: by code instead
          a4: by code it is
    last-prompt ~a4: by code instead
";
