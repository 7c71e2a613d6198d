/** Where files are stored: in a bucket of NATS, or in an S3-compatible store. */
export type ObjectStoreAddress = { kind: 'nats' } | { kind: 's3'; bucket: string; endpoint: string; region: string }

/** `nats`, or `s3://bucket?endpoint=https://s3.example.com&region=eu-west-1`; null for anything else. */
export function parseObjectStoreAddress(text: string): ObjectStoreAddress | null {
  if (text === 'nats') return { kind: 'nats' }
  if (!URL.canParse(text)) return null
  const { protocol, hostname: bucket, pathname, searchParams } = new URL(text)
  const region = searchParams.get('region') ?? 'us-east-1'
  const endpoint = searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`
  const isGood =
    protocol === 's3:' &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) &&
    /^\/?$/.test(pathname) &&
    URL.canParse(endpoint) &&
    /^https?:$/.test(new URL(endpoint).protocol)
  return isGood ? { kind: 's3', bucket, endpoint, region } : null
}
