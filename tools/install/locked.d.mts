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

export function readLockedPackages(root: string): Record<string, Locked>
export function checkLockFile(root: string): string[]
export function checkInstalledPackages(root: string): string[]
