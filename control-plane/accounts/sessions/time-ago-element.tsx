import { formatTimeAgo } from './time-ago.ts'

/** A time as text, with its machine-readable value. */
export const TimeAgo = ({ at, now }: { at: Date; now: Date }) => (
  <time datetime={at.toISOString()}>{formatTimeAgo(at, now)}</time>
)
