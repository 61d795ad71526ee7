-- Count a delivery of a job that has not ended.
--
-- KEYS: 1 state of the job
-- ARGV: 1 time to live of the state in seconds, 2 time to record as the first start, '' for none,
--       3 expiry of the front's presence, if it has set none (seconds since 1970), '' for none
-- Returns: the number of this delivery, 0 if the job has ended
-- Atomic: a job that ends between the check and the count would be begun again.
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
local delivery = redis.call('HINCRBY', KEYS[1], 'deliveries', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then redis.call('HSETNX', KEYS[1], 'started_at', ARGV[2]) end
if ARGV[3] ~= '' then redis.call('HSETNX', KEYS[1], 'awaited_until', ARGV[3]) end
return delivery
