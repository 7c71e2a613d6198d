export type Locked = {
  version: string
  resolved?: string
  integrity?: string
  dev?: boolean
  optional?: boolean
  hasInstallScript?: boolean
  os?: string[]
  cpu?: string[]
}

export function lockedPackages(root: string): Record<string, Locked>
export function faultsOfLock(root: string): string[]
export function faultsOfInstalled(root: string): string[]
