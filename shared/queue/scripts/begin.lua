-- Count a delivery of a job that has not ended.
--
-- KEYS: 1 state of the job, 2 since when Redis has had its memory
-- ARGV: 1 time to live of the state in seconds, 2 instant to note as the first start, '' for none
-- Returns: {0} where the job has ended; else {number of this delivery, value of KEYS[2] or false}
-- Atomic: a job that ends between the look and the count would be begun again.
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return {0} end
local delivery = redis.call('HINCRBY', KEYS[1], 'deliveries', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then redis.call('HSETNX', KEYS[1], 'started_at', ARGV[2]) end
return {delivery, redis.call('GET', KEYS[2])}
