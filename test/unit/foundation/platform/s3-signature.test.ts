import t from 'tap'
import { signS3Request } from '../../../../control-plane/foundation/platform/object-storage/s3-signature.ts'

t.test('A request to S3 is signed as in the examples of its documentation', async t => {
  const credentials = {
    region: 'us-east-1',
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const host = 'examplebucket.s3.amazonaws.com'
  const at = new Date('2013-05-24T00:00:00.000Z')
  const rows = [
    ['lifecycle=', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ] as const
  for (const [query, signature] of rows) {
    const headers = signS3Request({ method: 'GET', host, path: '/', query, body: Buffer.alloc(0) }, credentials, at)
    t.equal(headers['x-amz-date'], '20130524T000000Z')
    t.equal(
      headers.authorization,
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    )
  }
})
