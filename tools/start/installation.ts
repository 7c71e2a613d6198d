import { reserveFreePort } from '../engines/free-port.ts'
import { type MailSink, startMailSink } from '../mail/sink.ts'
import { openDataDir, writeEnvironment } from '../processes/data-dir.ts'
import { type DataStores, startDataStores } from '../processes/data-stores.ts'
import { readInstallationState } from '../processes/installation-state.ts'
import { runAdminCommand } from '../processes/programs.ts'
import { assertPortFree, reservePortOr } from '../processes/reachable.ts'
import type { RunningProcess, SupervisedProcess } from '../processes/supervise.ts'
import { createFirstAccount, ensureDemoAccount, ensureProbeTokens, type LocalAccount } from './accounts.ts'
import { buildCommonEnv, buildOperatorUrl, type LocalPorts, startControlPlane, startProbe } from './components.ts'
import { listOwnAddresses } from './own-addresses.ts'
import type { StartScreen } from './screen.ts'
import { LOCAL_REGIONS, type LocalSettings, readLocalSettings, StartError } from './settings.ts'

export type LocalInstallation = {
  settings: LocalSettings
  /** URL of the operator's endpoints */
  operatorUrl: string
  /** creates the first account on the first start; later null */
  firstAccount(): Promise<LocalAccount | null>
  /** an API key of the demo's own account */
  demoKey(): Promise<string>
  stop(): Promise<void>
  /** kills all processes without draining */
  kill(): void
}

/**
 * Starts everything on this machine and resolves when `/readyz` answers 200. Throws a StartError, also when `cancel` is
 * aborted; everything that was started is stopped then.
 */
export async function startInstallation(
  env: NodeJS.ProcessEnv,
  screen: StartScreen,
  cancel: AbortSignal,
): Promise<LocalInstallation> {
  const settings = readLocalSettings(env)
  await assertPortFree(settings.port, settings.host)
  if (settings.grpcPort) await assertPortFree(settings.grpcPort, settings.host, 'GRPC_PORT')
  if (settings.operatorPort) await assertPortFree(settings.operatorPort, settings.operatorHost, 'OPERATOR_PORT')
  if (settings.mailPort) await assertPortFree(settings.mailPort, '127.0.0.1', 'MAIL_PORT')
  const release = openDataDir(settings.dataDir)
  let stores: DataStores | undefined
  let controlPlane: SupervisedProcess<RunningProcess> | undefined
  let mail: MailSink | null = null
  const probes: SupervisedProcess<RunningProcess>[] = []

  // the order matters: probes drain into the control plane, the control plane into the data stores
  const stop = async () => {
    await Promise.all(probes.map(probe => probe.stop()))
    await controlPlane?.stop()
    await mail?.stop()
    await Promise.all(stores?.engines.map(engine => engine.stop()) ?? [])
    release()
  }
  const kill = () => {
    for (const running of [...probes, controlPlane, ...(stores?.engines ?? [])]) running?.kill()
    release()
  }
  try {
    screen.print(`Picket, data in ${settings.dataDir}\n`)
    const state = readInstallationState(settings.dataDir, env)
    stores = await startDataStores(settings, state, screen)
    assertNotCancelled(cancel)
    mail = await startMail(settings, screen)
    const ports: LocalPorts = {
      grpc: settings.grpcPort || (await reservePortOr(50_051, settings.host)),
      operator: settings.operatorPort || (await freeOperatorPort(settings)),
    }
    const egressDeny = [env.EGRESS_DENY, await listOwnAddresses(settings, stores, mail, ports)]
      .filter(Boolean)
      .join(',')
    const common = buildCommonEnv(settings, stores, state, mail, egressDeny, env)
    writeEnvironment(settings.dataDir, common)
    const tokens = await screen.component(
      'schema',
      async () => {
        await runAdminCommand(['migrate'], common)
        return ensureProbeTokens(settings, state, common)
      },
      () => 'up to date',
    )
    assertNotCancelled(cancel)
    controlPlane = await startControlPlane(settings, common, ports, screen, cancel)
    const starting = LOCAL_REGIONS.map(region =>
      startProbe(region, tokens[region] ?? '', settings, common, ports.grpc, screen, cancel).then(probe =>
        probes.push(probe),
      ),
    )
    const failure = (await Promise.allSettled(starting)).find(result => result.status === 'rejected')
    if (failure) throw failure.reason
    return {
      settings,
      operatorUrl: buildOperatorUrl(settings, ports.operator),
      firstAccount: () => createFirstAccount(settings, state, common),
      demoKey: () => ensureDemoAccount(settings, state, common),
      stop,
      kill,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Without SMTP_URL, mail is shown on a page of this machine. */
async function startMail(settings: LocalSettings, screen: StartScreen): Promise<MailSink | null> {
  if (settings.smtpUrl !== null) return null
  return screen.component(
    'mail',
    async () => startMailSink(settings.mailPort || (await reservePortOr(8_025, '127.0.0.1')), screen.print),
    sink => sink.pageUrl,
  )
}

function assertNotCancelled(cancel: AbortSignal): void {
  if (cancel.aborted) throw new StartError('Stopped during the start.')
}

/** 8081, or a free port if that is in use or the port of the API. */
function freeOperatorPort({ port, operatorHost }: LocalSettings): Promise<number> {
  return port === 8_081 ? reserveFreePort() : reservePortOr(8_081, operatorHost)
}
