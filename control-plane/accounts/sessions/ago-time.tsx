import { agoOf } from './ago.ts'

/** A time as somebody reads it, and as a program does. */
export const Ago = ({ at, now }: { at: Date; now: Date }) => <time datetime={at.toISOString()}>{agoOf(at, now)}</time>
