/** The rooms of the control plane in import order: a room imports only rooms above it. */
export const ROOMS = [
  'platform',
  'web',
  'migrations',
  'accounts',
  'events',
  'channels',
  'deliveries',
  'alerts',
  'monitors',
  'screenshots',
  'fleet',
  'incidents',
  'maintenance',
  'silences',
  'verdict',
  'results',
  'heartbeats',
  'expiry',
  'analytics',
  'canaries',
  'status-pages',
  'data-sources',
  'vendors',
  'chat',
  'exchange',
  'retention',
  'clock-steps',
  'health',
  'dashboard',
]

/** Files beside the rooms, which wire them. */
export const WIRING = ['main', 'admin', 'config', 'start', 'roles', 'pools']

const ROLES = ['routes', 'actions', 'store', 'worker', 'reader', 'recorder', 'grpc', 'judge', 'screens']
/** What another room may use of a room, beside its pure files. */
export const OPEN_ROLES = ['actions', 'store', 'judge']

/** The room of a path like `control-plane/monitors/store.ts`; null for wiring, a folder of it too, and other programs. */
export function roomOf(path: string): string | null {
  const [program, room, ...rest] = path.split('/')
  return program === 'control-plane' && rest.length > 0 && !WIRING.includes(room ?? '') ? (room ?? null) : null
}

/** The role that lets a file do I/O: its name, the last word of its name, or its folder below the room. Null: pure. */
export function roleOf(path: string): string | null {
  const words = path
    .replace(/\.tsx?$/, '')
    .split('/')
    .slice(2)
  const last = words.at(-1)?.split('-').at(-1) ?? ''
  return [last, ...words.slice(0, -1)].find(word => ROLES.includes(word)) ?? null
}

/** Rooms that are no rooms of the product's domain: connections, pages' layout, schema. */
export const isDomain = (room: string | null) => room !== null && !['platform', 'web', 'migrations'].includes(room)
