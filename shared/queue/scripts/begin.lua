-- Count a delivery of a job that has not ended.
--
-- KEYS: 1 state of the job
-- ARGV: 1 time to live of the state in seconds, 2 instant to note as the first start, '' for none
-- Returns: the number of this delivery, 0 where the job has ended
-- Atomic: a job that ends between the look and the count would be begun again.
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
local delivery = redis.call('HINCRBY', KEYS[1], 'deliveries', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then redis.call('HSETNX', KEYS[1], 'started_at', ARGV[2]) end
return delivery
