import { assertIncludesDomains } from '../../accounts/actions.ts'
import { isId } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres.ts'
import { signRsaSha256 } from '../../platform/rsa.ts'
import type { Sign } from '../../platform/signer.ts'
import type { Caller } from '../../web/auth.ts'
import { conflict, domainConnectUnavailable, notFound, validationError } from '../../web/errors.ts'
import type { StoredPage } from '../records.ts'
import { findPage as findStoredPage } from '../store.ts'
import { analysisOf, recordsOf } from './analysis.ts'
import { applyQuery, LAUNCH_WITHIN_MS, launchUrl } from './domain-connect.ts'
import { findConnectable, lookUpFacts, seeCertificate, type World } from './domain-reader.ts'
import { customDomainOf } from './hostname.ts'
import type { CustomDomainSettings } from './settings.ts'
import { type DomainRow, dropVerified, findDomain, findHolder, setDomain, setVerified } from './store.ts'
import type { Analysis, DomainFacts } from './types.ts'

export type DomainTools = {
  db: Db
  world: World
  settings: CustomDomainSettings
  /** of this installation: nobody's custom domains */
  ownHosts: string[]
  /** signs what proves whose a domain is */
  sign: Sign
}

type Asked = { tools: DomainTools; caller: Caller; pageId: string }

/** What is missing for a domain, and who could set it. Changes nothing. Throws 400, 403, 404 (specification). */
export async function analyzeDomain({ tools, caller, pageId }: Asked, text: string): Promise<Analysis> {
  const page = await admit(tools, caller, pageId)
  const domain = domainOf(tools, text)
  return analyze(tools, page, domain, await lookUpFacts(domain, tools.settings.target, tools.world))
}

/** A signed address at which the DNS provider sets the records. Throws 422 where that cannot be done (specification). */
export async function launchDomainConnect({ tools, caller, pageId }: Asked, text: string, now: Date) {
  const page = await admit(tools, caller, pageId)
  const domain = domainOf(tools, text)
  const { connect, target } = tools.settings
  if (connect === null) throw domainConnectUnavailable('this installation is no service provider of Domain Connect')
  const { zone } = await lookUpFacts(domain, target, tools.world)
  const connectable = zone && (await findConnectable(zone.name, connect.template, tools.world))
  if (!zone || !connectable) {
    throw domainConnectUnavailable(`the DNS provider of ${domain} does not offer Domain Connect`)
  }
  const { settings, hasTemplate } = connectable
  if (!hasTemplate || settings.urlSyncUx === null) {
    throw domainConnectUnavailable(`${settings.providerName} offers Domain Connect, but not for status pages of Picket`)
  }
  const query = applyQuery({ zone: zone.name, domain, target, challenge: challengeOf(tools, page.projectId, domain) })
  const signature = signRsaSha256(query, connect.key)
  return {
    url: launchUrl(settings.urlSyncUx, connect.template, query, { signature, keyHost: connect.keyHost }),
    provider_id: settings.providerId,
    service_id: connect.template.serviceId,
    expires_at: new Date(now.getTime() + LAUNCH_WITHIN_MS),
  }
}

/** Gives the page its domain, which is served once it is proven. Answers what is missing. Throws 400, 403, 404. */
export async function chooseDomain(asked: Asked, text: string, now: Date): Promise<Analysis> {
  const { tools, caller, pageId } = asked
  const page = await admit(tools, caller, pageId)
  const domain = domainOf(tools, text)
  await tools.db.transaction(async tx => {
    await assertIncludesDomains(tx, caller.organizationId)
    await setDomain(tx, page.id, domain, now)
  })
  return prove(tools, { ...page, domain }, domain, now)
}

/** Looks again. Throws 404 when the page has no domain, 409 when it is proven to be another page's. */
export async function verifyDomain({ tools, caller, pageId }: Asked, now: Date): Promise<Analysis> {
  const page = await admit(tools, caller, pageId)
  if (page.domain === null) throw notFound('custom domain')
  return prove(tools, page, page.domain, now)
}

/** Nothing is served there any more. Works on any plan. Answers the page. Throws 404. */
export async function removeDomain({ tools, caller, pageId }: Asked, now: Date): Promise<StoredPage> {
  const page = await findPage(tools, caller, pageId)
  if (page.domain === null) throw notFound('custom domain')
  await setDomain(tools.db, page.id, null, now)
  const left = await findStoredPage(tools.db, caller.projectId, page.id)
  if (!left) throw notFound('status page')
  return left
}

async function prove(tools: DomainTools, page: DomainRow, domain: string, now: Date): Promise<Analysis> {
  const facts = await lookUpFacts(domain, tools.settings.target, tools.world)
  const analysis = await analyze(tools, page, domain, facts)
  if (!analysis.verified) return analysis
  await releaseFormer(tools, page, domain, facts, now)
  if (await setVerified(tools.db, page.id, domain, now)) return analysis
  throw conflict(`${domain} is the custom domain of another status page`)
}

/** Who can no longer prove that a domain is theirs does not keep it from who can. */
async function releaseFormer(tools: DomainTools, page: DomainRow, domain: string, facts: DomainFacts, now: Date) {
  const holder = await findHolder(tools.db, domain)
  if (holder === null || holder.id === page.id) return
  const isProven = facts.texts.includes(challengeOf(tools, holder.projectId, domain))
  if (isProven) throw conflict(`${domain} is the custom domain of another status page`)
  await dropVerified(tools.db, holder.id, domain, now)
}

async function analyze(tools: DomainTools, page: DomainRow, domain: string, facts: DomainFacts): Promise<Analysis> {
  const { settings, world } = tools
  const wanted = { domain, target: settings.target, challenge: challengeOf(tools, page.projectId, domain) }
  const template = settings.connect?.template ?? null
  const pointsHere = recordsOf(wanted, facts)[0]!.ok
  const [connectable, certificate] = await Promise.all([
    template && facts.zone ? findConnectable(facts.zone.name, template, world) : null,
    pointsHere ? seeCertificate(domain, world) : null,
  ])
  const name = template && `${template.providerId}/${template.serviceId}`
  return analysisOf(wanted, facts, { connectable, certificate, template: name })
}

async function findPage({ db }: DomainTools, caller: Caller, pageId: string): Promise<DomainRow> {
  const page = isId(pageId) ? await findDomain(db, caller.projectId, pageId) : null
  if (!page) throw notFound('status page')
  return page
}

async function admit(tools: DomainTools, caller: Caller, pageId: string): Promise<DomainRow> {
  const page = await findPage(tools, caller, pageId)
  await assertIncludesDomains(tools.db, caller.organizationId)
  return page
}

function domainOf({ ownHosts }: DomainTools, text: string): string {
  const read = customDomainOf(text, ownHosts)
  if ('domain' in read) return read.domain
  throw validationError([{ path: 'domain', message: read.problem }])
}

/** The same for all pages of a project, so that a page can be made anew without touching DNS. */
const challengeOf = ({ sign }: DomainTools, projectId: string, domain: string) =>
  `picket-verify=${sign(`${projectId} ${domain}`).slice(0, 32)}`
