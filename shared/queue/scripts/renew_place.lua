-- Renew the lease of a job's place, while its front waits for the place or for the outcome.
--
-- KEYS: 1 state of the job; see `places.lua` for others
-- ARGV: 1 job, 2 lease in seconds, 3 slots of the workers
-- Returns: 'ended' if the job has ended; 'held', 'waiting' or 'fetching'; false if it has no place
-- Atomic: a place that expires in between would be held twice.
--- @include places

local job = ARGV[1]
local now = read_clock()
local place = find_place(job)
if place then
    redis.call('ZADD', 'places:leases', now + ARGV[2], job)
    mark_active(place.account, now)
end
update_places(ARGV[3], now)
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 'ended' end
place = find_place(job)
return place and place.state
