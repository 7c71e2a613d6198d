// What the command line asks the API for, and the sentences for whatever may go wrong.

/** What ends the program with one sentence instead of a stack. */
export class Refusal extends Error {}

const PATIENCE_MS = 120_000

/** A client with what the environment says. Throws a Refusal when that is not enough. */
export function createClient({ PICKET_URL = 'http://localhost:8080', PICKET_API_KEY }) {
  if (!PICKET_API_KEY) throw new Refusal('Set PICKET_API_KEY to an API key of the project (svc_…).')
  const api = apiOf(PICKET_URL)
  const ask = (path, request) => send(`${api}${path}`, PICKET_API_KEY, request)
  return {
    /** the file as text; `format`: yaml or json */
    async exportProject(format) {
      const text = await ask(`/export?format=${encodeURIComponent(format)}`, {})
      return format === 'json' ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text
    },
    /** what is changed, or would be */
    async importFile({ type, text }, { from, prune, isDryRun }) {
      const query = new URLSearchParams({ from, prune, dry_run: isDryRun })
      const answer = await ask(`/import?${query}`, { method: 'POST', body: text, headers: { 'content-type': type } })
      return JSON.parse(answer).data
    },
  }
}

function apiOf(address) {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Refusal(`PICKET_URL has to be an address such as https://picket.example.com, not "${address}".`)
  }
  return `${address.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`
}

async function send(url, key, { headers, ...request }) {
  const { origin } = new URL(url)
  const answer = await fetch(url, {
    ...request,
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: { ...headers, authorization: `Bearer ${key}` },
  }).catch(error => {
    throw new Refusal(
      `${origin} does not answer (${error.cause?.code ?? error.cause?.message ?? error.message}); is PICKET_URL right?`,
    )
  })
  const text = await answer.text()
  if (answer.ok && /^application\/(json|yaml)/.test(answer.headers.get('content-type') ?? '')) return text
  throw new Refusal(sentenceOf(answer.status, errorIn(text), origin))
}

function errorIn(text) {
  try {
    return JSON.parse(text).error ?? null
  } catch {
    return null
  }
}

function sentenceOf(status, error, origin) {
  if (!error) return `${origin} answered ${status} and not like Picket; is PICKET_URL right?`
  if (status === 401 && /base address/.test(error.message)) return `${error.message}; is PICKET_URL right?`
  if (status === 401) return 'PICKET_API_KEY is not a key of this Picket.'
  const details = error.details ?? []
  if (details.length < 2) return `Refused (${status}): ${error.message}.`
  return [`Refused (${status}), nothing was changed:`, ...details.map(({ message }) => `  ${message}`)].join('\n')
}
