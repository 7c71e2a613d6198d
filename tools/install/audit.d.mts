import type { Locked } from './locked.mjs'

type Kinds = Map<string, Set<string>>

export function collectFindings(packages: Record<string, Partial<Locked>>, native: string[]): Kinds
export function parseListedPackages(markdown: string): Kinds
export function compareWithList(found: Kinds, listed: Kinds): string[]
export function findNativePackages(folder: string): string[]
