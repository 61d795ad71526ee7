-- Release the place of a job that is not queued, or stop waiting for one.
--
-- KEYS: none, see `places.lua`
-- ARGV: 1 job
-- Returns: nothing
-- Atomic: the place is granted to the next job.
--- @include places
release_place(ARGV[1], false)
