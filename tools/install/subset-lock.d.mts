import type { Locked } from './locked.mjs'

type Lock = { lockfileVersion: number; packages: Record<string, Locked> }

export function createSubset(
  lock: Lock,
  names: string[],
): { manifest: { dependencies: Record<string, string> }; lock: Lock }
