-- End a delivery of a job that needs remote images, and request them from its front.
--
-- KEYS: 1 state of the job, 2 reply list; see `places.lua` for others
-- ARGV: 1 job, 2 outcome that names the images, 3 its time to live in seconds
-- Returns: 1 if the front is notified, 0 if the job has ended
-- Atomic: the place is granted to the next job as this one releases it; an ended job gets none again.
--- @include places
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
redis.call('HINCRBY', KEYS[1], 'deliveries', -1)
redis.call('HDEL', KEYS[1], 'awaited_until')  -- its front renews its presence once it has the images
local place = find_place(ARGV[1])
if place and place.state == 'held' then
    local now = read_clock()
    end_hold(ARGV[1], place.account)
    write_place(ARGV[1], 'fetching', now, place.queue, place.account)
    redis.call('HINCRBY', 'places:fetching', place.account, 1)
    grant_places(now)
end
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
