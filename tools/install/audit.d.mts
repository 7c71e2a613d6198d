import type { Locked } from './locked.mjs'

export type Kinds = Map<string, Set<string>>

export function findingsOf(packages: Record<string, Partial<Locked>>, native: string[]): Kinds
export function listedIn(markdown: string): Kinds
export function differencesOf(found: Kinds, listed: Kinds): string[]
export function nativeIn(folder: string): string[]
