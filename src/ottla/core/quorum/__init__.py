"""The metadata quorum (KRaft): who leads, which records are committed, who votes; pure."""
