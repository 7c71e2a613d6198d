import { type Env, readOptionalText, readUrl } from '../../../../../shared/process/env.ts'

export type ProbeInstallationSettings = {
  /** the address at which probes connect: `https` with TLS, else `http` */
  fleetUrl: URL
  /** the folder that `npm run build:probe` filled; null: next to the program */
  folder: string | null
}

/** PUBLIC_FLEET_URL and PROBE_FOLDER. @throws ConfigError */
export function parseProbeInstallationSettings(
  env: Env,
  { publicUrl, grpcPort, hasTls }: { publicUrl: string; grpcPort: number; hasTls: boolean },
): ProbeInstallationSettings {
  const fallback = `${hasTls ? 'https' : 'http'}://${new URL(publicUrl).hostname}:${grpcPort}`
  return {
    fleetUrl: new URL(readUrl(env, 'PUBLIC_FLEET_URL', ['http:', 'https:'], fallback)),
    folder: readOptionalText(env, 'PROBE_FOLDER'),
  }
}
