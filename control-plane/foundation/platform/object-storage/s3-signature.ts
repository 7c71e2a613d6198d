import { createHash, createHmac } from 'node:crypto'

export type S3Credentials = { region: string; accessKeyId: string; secretAccessKey: string }

/** The request to sign; path and query are percent-encoded as they are sent. */
type S3Request = { method: string; host: string; path: string; query?: string; body: Buffer }

/** The headers of AWS Signature Version 4 for one request to S3. */
export function signS3Request(request: S3Request, credentials: S3Credentials, now: Date): Record<string, string> {
  const { region, accessKeyId, secretAccessKey } = credentials
  const stamp = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const bodyHash = createHash('sha256').update(request.body).digest('hex')
  const signed = 'host;x-amz-content-sha256;x-amz-date'
  const canonical = [
    request.method,
    request.path,
    request.query ?? '',
    `host:${request.host}`,
    `x-amz-content-sha256:${bodyHash}`,
    `x-amz-date:${stamp}`,
    '',
    signed,
    bodyHash,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', stamp, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = ['aws4_request', 's3', region, day].reduceRight<string | Buffer>(computeHmac, `AWS4${secretAccessKey}`)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return {
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': stamp,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  }
}

const computeHmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
