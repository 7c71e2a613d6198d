import { agoOf } from './ago.ts'

/** A time for people, and for programs. */
export const Ago = ({ at, now }: { at: Date; now: Date }) => <time datetime={at.toISOString()}>{agoOf(at, now)}</time>
