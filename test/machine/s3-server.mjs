// A stand-in for versitygw, for machines that cannot pull its image: the commonly used part of S3, on a folder, with
// path style and Signature Version 4 in headers and presigned URLs. Started like the real one: `versitygw posix FOLDER`.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'

const {
  ROOT_ACCESS_KEY_ID,
  ROOT_SECRET_ACCESS_KEY,
  VGW_REGION = 'us-east-1',
  VGW_META_SIDECAR,
  VGW_HEALTH,
  VGW_CORS_ALLOW_ORIGIN,
  VGW_PORT = ':7070',
} = process.env
const [backend, root] = process.argv.slice(2)
if (backend !== 'posix' || !root || !VGW_META_SIDECAR || !ROOT_ACCESS_KEY_ID || !ROOT_SECRET_ACCESS_KEY) {
  console.error('usage: versitygw posix FOLDER, with ROOT_ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY and VGW_META_SIDECAR')
  process.exit(1)
}

class S3Error extends Error {
  constructor(status, code, message) {
    super(message)
    this.status = status
    this.code = code
  }
}

const sha256 = (data) => createHash('sha256').update(data).digest('hex')
const hmac = (key, data) => createHmac('sha256', key).update(data).digest()
const encode = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** Signature Version 4, as AWS documents it; the signature is in the header or in the query. Throws for any other request. */
function authenticate(request, url, now) {
  const query = [...url.searchParams]
  const isPresigned = url.searchParams.has('X-Amz-Signature')
  const header = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(request.headers.authorization ?? '')
  if (!isPresigned && !header) throw new S3Error(403, 'AccessDenied', 'Access Denied')
  const [credential, signedHeaders, signature] = isPresigned
    ? ['X-Amz-Credential', 'X-Amz-SignedHeaders', 'X-Amz-Signature'].map((name) => url.searchParams.get(name) ?? '')
    : header.slice(1)
  const date = isPresigned ? url.searchParams.get('X-Amz-Date') : request.headers['x-amz-date']
  const time = Date.parse(String(date).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  const [key, day, region, service, end] = credential.split('/')
  if (key !== ROOT_ACCESS_KEY_ID) throw new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.')
  if (region !== VGW_REGION || service !== 's3' || end !== 'aws4_request') throw new S3Error(400, 'AuthorizationQueryParametersError', 'Wrong scope')
  const lifetime_s = isPresigned ? Number(url.searchParams.get('X-Amz-Expires')) : 900
  if (!(Math.abs(now - time) < 900_000 || (isPresigned && now >= time)) || now > time + lifetime_s * 1000)
    throw new S3Error(403, 'AccessDenied', 'Request has expired')
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    query
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...signedHeaders.split(';').map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/\s+/g, ' ')}`,
    ),
    '',
    signedHeaders,
    isPresigned ? (url.searchParams.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD') : request.headers['x-amz-content-sha256'],
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', date, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n')
  const expected = hmac([day, region, 's3', 'aws4_request'].reduce(hmac, `AWS4${ROOT_SECRET_ACCESS_KEY}`), text).toString('hex')
  if (expected.length !== signature.length || !timingSafeEqual(Buffer.from(expected), Buffer.from(signature)))
    throw new S3Error(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.')
}

/** The payload of a request; the SDKs send streams in chunks with a checksum behind them. */
async function* readPayload(request) {
  if (!request.headers['x-amz-content-sha256']?.startsWith('STREAMING-')) {
    yield* request
    return
  }
  let rest = Buffer.alloc(0)
  let left = -1
  for await (const part of request) {
    rest = Buffer.concat([rest, part])
    for (;;) {
      if (left > 0) {
        const taken = rest.subarray(0, left)
        rest = rest.subarray(taken.length)
        left -= taken.length
        if (taken.length > 0) yield taken
        if (left > 0) break
      }
      const end = rest.indexOf('\r\n', left === 0 ? 2 : 0)
      if (end < 0) break
      const size = parseInt(
        rest
          .subarray(left === 0 ? 2 : 0, end)
          .toString()
          .split(';')[0],
        16,
      )
      rest = rest.subarray(end + 2)
      if (!(size > 0)) return
      left = size
    }
  }
}

function pathsOf(bucket, key) {
  if (!/^[a-z0-9][a-z0-9.-]{2,62}$/.test(bucket)) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist')
  const file = resolve(root, bucket, key)
  if (key !== '' && !file.startsWith(`${resolve(root, bucket)}/`)) throw new S3Error(400, 'InvalidArgument', 'Invalid key')
  return { folder: join(root, bucket), file, meta: join(VGW_META_SIDECAR, bucket, `${key}.json`) }
}

const notFound = () => new S3Error(404, 'NoSuchKey', 'The specified key does not exist.')
const escape = (text) => text.replace(/[&<>]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[one])

async function listKeys(folder, prefix = '') {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true })
  const found = await Promise.all(
    entries.map((entry) => (entry.isDirectory() ? listKeys(folder, `${prefix}${entry.name}/`) : [`${prefix}${entry.name}`])),
  )
  return found.flat().sort()
}

async function handle(request, response) {
  const url = new URL(request.url, `http://${request.headers.host}`)
  if (url.pathname === VGW_HEALTH) return response.end('OK')
  if (VGW_CORS_ALLOW_ORIGIN) response.setHeader('Access-Control-Allow-Origin', VGW_CORS_ALLOW_ORIGIN)
  if (request.method === 'OPTIONS')
    return response
      .writeHead(200, {
        'Access-Control-Allow-Methods': 'GET, PUT, POST, DELETE, HEAD',
        'Access-Control-Allow-Headers': request.headers['access-control-request-headers'] ?? '*',
      })
      .end()
  authenticate(request, url, Date.now())
  const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/')
  const key = rest.join('/')
  const { folder, file, meta } = pathsOf(bucket, key)
  await stat(folder).catch(() => Promise.reject(new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist')))
  if (key === '') {
    if (request.method === 'HEAD') return response.end()
    if (request.method !== 'GET') throw new S3Error(501, 'NotImplemented', 'Not in the stand-in')
    const keys = (await listKeys(folder)).filter((one) => one.startsWith(url.searchParams.get('prefix') ?? ''))
    const contents = await Promise.all(
      keys.map(async (one) => `<Contents><Key>${escape(one)}</Key><Size>${(await stat(join(folder, one))).size}</Size></Contents>`),
    )
    return response
      .writeHead(200, { 'Content-Type': 'application/xml' })
      .end(
        `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><KeyCount>${keys.length}</KeyCount><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`,
      )
  }
  if (request.method === 'PUT') {
    const part = join(VGW_META_SIDECAR, `${process.pid}-${Math.random().toString(36).slice(2)}.part`)
    const hash = createHash('md5')
    await pipeline(
      readPayload(request),
      async function* (chunks) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          yield chunk
        }
      },
      createWriteStream(part),
    )
    const etag = `"${hash.digest('hex')}"`
    for (const path of [file, meta]) await mkdir(dirname(path), { recursive: true })
    const own = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-'))
    await writeFile(
      meta,
      JSON.stringify({ etag, 'content-type': request.headers['content-type'] ?? 'binary/octet-stream', ...Object.fromEntries(own) }),
    )
    await rename(part, file)
    return response.writeHead(200, { ETag: etag }).end()
  }
  if (request.method === 'DELETE') {
    await rm(file, { force: true })
    await rm(meta, { force: true })
    return response.writeHead(204).end()
  }
  const { size } = await stat(file).catch(() => Promise.reject(notFound()))
  response.writeHead(200, { ...JSON.parse(await readFile(meta, 'utf8')), 'Content-Length': size })
  if (request.method === 'HEAD') return response.end()
  return pipeline(createReadStream(file), response)
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    request.resume()
    if (response.headersSent) return response.destroy()
    const { status = 500, code = 'InternalError', message } = error
    response
      .writeHead(status, { 'Content-Type': 'application/xml' })
      .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${escape(message)}</Message></Error>`)
  })
})
server.listen(Number(VGW_PORT.split(':').at(-1)), () => console.log(`listening on ${VGW_PORT}`))
process.on('SIGTERM', () => process.exit(0))
