import { formatTimeAgo } from './time-ago.ts'

/** A time for people, and for programs. */
export const TimeAgo = ({ at, now }: { at: Date; now: Date }) => (
  <time datetime={at.toISOString()}>{formatTimeAgo(at, now)}</time>
)
