"""Truth: records, signatures, the chain, the head and the daily anchor. Pure, standard library only."""
