import { type Account, demoAccount, firstAccount, probeTokens } from './accounts.ts'
import { commonEnv, operatorUrl, type Ports, startControlPlane, startProbe } from './components.ts'
import { openDataDir, readKeep, writeAddresses } from './data-dir.ts'
import { type DataStores, startDataStores } from './data-stores.ts'
import { freePort } from './engines/free-port.ts'
import { type MailSink, startMailSink } from './mail/sink.ts'
import { ownPlaces } from './own-places.ts'
import { assertPortFree, portOr } from './reachable.ts'
import type { Screen } from './screen.ts'
import { LOCAL_REGIONS, readSettings, type Settings, StartError } from './settings.ts'
import type { Running, Supervised } from './supervise.ts'

export type Picket = {
  settings: Settings
  /** where the operator's endpoints are */
  operatorUrl: string
  /** makes the first account, on the first start only; null on all others */
  firstAccount(): Promise<Account | null>
  /** an API key of an account that the demo keeps for itself */
  demoKey(): Promise<string>
  stop(): Promise<void>
  /** for somebody in a hurry: nothing drains */
  kill(): void
}

/**
 * Starts everything on this machine (decisions 11.4) and resolves when `/readyz` answers 200. Throws StartError, also
 * when `cancel` comes first; then what was started is stopped.
 */
export async function startPicket(env: NodeJS.ProcessEnv, screen: Screen, cancel: AbortSignal): Promise<Picket> {
  const settings = readSettings(env)
  await assertPortFree(settings.port, settings.host)
  if (settings.grpcPort) await assertPortFree(settings.grpcPort, settings.host, 'GRPC_PORT')
  if (settings.operatorPort) await assertPortFree(settings.operatorPort, settings.operatorHost, 'OPERATOR_PORT')
  if (settings.mailPort) await assertPortFree(settings.mailPort, '127.0.0.1', 'MAIL_PORT')
  const release = openDataDir(settings.dataDir)
  let stores: DataStores | undefined
  let controlPlane: Supervised<Running> | undefined
  let mail: MailSink | null = null
  const probes: Supervised<Running>[] = []

  // probes drain into the control plane's streams, the control plane into the engines
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
    screen.say(`Picket, data in ${settings.dataDir}\n`)
    const keep = readKeep(settings.dataDir, env)
    stores = await startDataStores(settings, keep, screen)
    const { natsUrl, clickhouseUrl } = stores
    const { egressAllow } = settings
    writeAddresses(settings.dataDir, { natsUrl, isEmbeddedNats: settings.natsUrl === null, clickhouseUrl, egressAllow })
    assertNotCancelled(cancel)
    mail = await startMail(settings, screen)
    const ports: Ports = {
      grpc: settings.grpcPort || (await portOr(50_051, settings.host)),
      operator: settings.operatorPort || (await freeOperatorPort(settings)),
    }
    const egressDeny = [env.EGRESS_DENY, await ownPlaces(settings, stores, mail, ports)].filter(Boolean).join(',')
    const common = commonEnv(settings, stores, keep, mail, egressDeny, env)
    const tokens = await screen.component(
      'schema',
      () => probeTokens(settings, keep, common),
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
      operatorUrl: operatorUrl(settings, ports.operator),
      firstAccount: () => firstAccount(settings, keep, common),
      demoKey: () => demoAccount(settings, keep, common),
      stop,
      kill,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Without a mail server of the operator's own, mail is shown on this machine. */
async function startMail(settings: Settings, screen: Screen): Promise<MailSink | null> {
  if (settings.smtpUrl !== null) return null
  return screen.component(
    'mail',
    async () => startMailSink(settings.mailPort || (await portOr(8_025, '127.0.0.1')), screen.say),
    sink => sink.pageUrl,
  )
}

function assertNotCancelled(cancel: AbortSignal): void {
  if (cancel.aborted) throw new StartError('Stopped while starting.')
}

/** 8081, or a free one where that is taken or will be the port of the API. */
function freeOperatorPort({ port, operatorHost }: Settings): Promise<number> {
  return port === 8_081 ? freePort() : portOr(8_081, operatorHost)
}
