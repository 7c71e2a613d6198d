import type { MailSink } from '../mail/sink.ts'
import type { DataStores } from '../processes/data-stores.ts'
import type { InstallationState } from '../processes/installation-state.ts'
import { startProgram } from '../processes/programs.ts'
import { type RunningProcess, type SupervisedProcess, supervise } from '../processes/supervise.ts'
import type { StartScreen } from './screen.ts'
import { buildProbeDir, buildProbeName, formatReachableAddress, type LocalSettings, StartError } from './settings.ts'

const READY_TIMEOUT_MS = 180_000
/**
 * V8's new space starts with 1 MB, which an idle control plane fills every second or two; collecting it was a tenth of the
 * work. Without a maximum it would keep the 16 MB that it grows to in a burst. One thread collects it: there is little to
 * collect, so that waking another one costs more than its help saves.
 */
const CONTROL_PLANE_FLAGS = ['--min-semi-space-size=8', '--max-semi-space-size=8', '--no-parallel-scavenge']
/** Reduces the memory of the probes by a fifth with a thousand monitors. */
const PROBE_FLAGS = ['--max-semi-space-size=4']

/** The environment variables of every program. */
export function buildCommonEnv(
  settings: LocalSettings,
  stores: DataStores,
  state: InstallationState,
  mail: MailSink | null,
  egressDeny: string,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  return {
    DATABASE_URL: stores.databaseUrl,
    NATS_URL: stores.natsUrl,
    NATS_OPERATOR_SEED: settings.natsUrl ? env.NATS_OPERATOR_SEED || '' : state.natsOperatorSeed,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    SECRET_KEY: state.secretKey,
    ...(env.SECRET_KEY_OLD && { SECRET_KEY_OLD: env.SECRET_KEY_OLD }),
    PUBLIC_URL: settings.publicUrl,
    ...(mail && { SMTP_URL: mail.smtpUrl, SMTP_IS_LOCAL: 'yes' }),
    EGRESS_ALLOW: settings.egressAllow,
    EGRESS_DENY: egressDeny,
    LOG_LEVEL: env.LOG_LEVEL || 'info',
  }
}

/** Ports of the control plane other than the API. */
export type LocalPorts = { grpc: number; operator: number }

export function startControlPlane(
  settings: LocalSettings,
  common: Record<string, string>,
  ports: LocalPorts,
  screen: StartScreen,
  cancel: AbortSignal,
): Promise<SupervisedProcess<RunningProcess>> {
  const start = () =>
    startProgram({
      name: 'control-plane',
      program: 'control-plane.js',
      flags: CONTROL_PLANE_FLAGS,
      readyEvent: 'ready',
      timeoutMs: READY_TIMEOUT_MS,
      dataDir: settings.dataDir,
      cancel,
      env: {
        ...common,
        HOST: settings.host,
        PORT: String(settings.port),
        OPERATOR_HOST: settings.operatorHost,
        OPERATOR_PORT: String(ports.operator),
        GRPC_PORT: String(ports.grpc),
      },
    })
  return screen.component(
    'control plane',
    async () => {
      const running = await supervise('The control plane', start, text => screen.print(`! ${text}`))
      await waitUntilReady(buildOperatorUrl(settings, ports.operator), cancel).catch(async error => {
        await running.stop()
        throw error
      })
      return running
    },
    () => settings.publicUrl,
  )
}

export function startProbe(
  region: string,
  token: string,
  settings: LocalSettings,
  common: Record<string, string>,
  grpcPort: number,
  screen: StartScreen,
  cancel: AbortSignal,
): Promise<SupervisedProcess<RunningProcess>> {
  const { EGRESS_ALLOW = '', EGRESS_DENY = '', LOG_LEVEL = '' } = common
  const start = () =>
    startProgram({
      name: `probe-${region}`,
      program: 'probe-agent.js',
      flags: PROBE_FLAGS,
      readyEvent: 'connected',
      timeoutMs: READY_TIMEOUT_MS,
      dataDir: settings.dataDir,
      cancel,
      // a probe receives its token and no other secrets
      env: {
        FLEET_URL: formatReachableAddress(settings.host, grpcPort),
        PROBE_TOKEN: token,
        PROBE_NAME: buildProbeName(region),
        DATA_DIR: buildProbeDir(settings, region),
        EGRESS_ALLOW,
        EGRESS_DENY,
        LOG_LEVEL,
      },
      withoutSecrets: true,
    })
  return screen.component(
    `probe ${region}`,
    () => supervise(`The probe of ${region}`, start, text => screen.print(`! ${text}`)),
    () => 'connected',
  )
}

/** The URL of the operator's endpoints on this machine. */
export function buildOperatorUrl({ operatorHost }: LocalSettings, port: number): string {
  return `http://${formatReachableAddress(operatorHost, port)}`
}

async function waitUntilReady(operator: string, cancel: AbortSignal): Promise<void> {
  const url = `${operator}/readyz`
  const deadline = Date.now() + READY_TIMEOUT_MS
  let answer = 'no answer'
  while (Date.now() < deadline && !cancel.aborted) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.status === 200) return
    answer = response ? await response.text() : 'no answer'
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new StartError(`${url} did not become ready in ${READY_TIMEOUT_MS / 1000} s: ${answer}`)
}
