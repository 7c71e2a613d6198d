// The API calls of the command line, and its error messages.

/** An error that is printed as one sentence, without a stack. */
export class Refusal extends Error {}

const TIMEOUT_MS = 120_000

/** A client for the address and key in the environment. Throws a Refusal when one of them is missing or invalid. */
export function createClient({ PICKET_URL = 'http://localhost:8080', PICKET_API_KEY }) {
  if (!PICKET_API_KEY) throw new Refusal('Set PICKET_API_KEY to an API key of the project (svc_…).')
  const api = parseApiUrl(PICKET_URL)
  const ask = (path, request) => send(`${api}${path}`, PICKET_API_KEY, request)
  return {
    /** exports the project as text; `format`: yaml or json */
    async exportProject(format) {
      const text = await ask(`/export?format=${encodeURIComponent(format)}`, {})
      return format === 'json' ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text
    },
    /** imports a file; returns the changes, or with `isDryRun` the changes it would make */
    async importFile({ type, text }, { from, prune, isDryRun }) {
      const query = new URLSearchParams({ from, prune, dry_run: isDryRun })
      const answer = await ask(`/import?${query}`, { method: 'POST', body: text, headers: { 'content-type': type } })
      return JSON.parse(answer).data
    },
  }
}

function parseApiUrl(address) {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Refusal(`PICKET_URL is "${address}"; it must be a URL such as https://picket.example.com.`)
  }
  return `${address.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`
}

async function send(url, key, { headers, ...request }) {
  const { origin } = new URL(url)
  const answer = await fetch(url, {
    ...request,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { ...headers, authorization: `Bearer ${key}` },
  }).catch(error => {
    throw new Refusal(
      `${origin} does not respond (${error.cause?.code ?? error.cause?.message ?? error.message}). Check PICKET_URL.`,
    )
  })
  const text = await answer.text()
  if (answer.ok && /^application\/(json|yaml)/.test(answer.headers.get('content-type') ?? '')) return text
  throw new Refusal(formatError(answer.status, parseError(text), origin))
}

function parseError(text) {
  try {
    return JSON.parse(text).error ?? null
  } catch {
    return null
  }
}

function formatError(status, error, origin) {
  if (!error) return `${origin} answered ${status}, but not as a Picket server. Check PICKET_URL.`
  if (status === 401 && /base address/.test(error.message)) return `${error.message}. Check PICKET_URL.`
  if (status === 401) return 'PICKET_API_KEY is not a valid API key of this server.'
  const details = error.details ?? []
  if (details.length < 2) return `Refused (${status}): ${error.message}.`
  return [`Refused (${status}), nothing was changed:`, ...details.map(({ message }) => `  ${message}`)].join('\n')
}
