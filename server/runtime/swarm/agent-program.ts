/**
 * The program of a node agent: it lets Homeport reach the containers of its own apps at the Docker engine of the node, over TLS with certificates on both
 * sides, and nothing else of that engine. It runs in an image of Node on each node, so it is a text without imports of ours. In its environment are
 * HOMEPORT_INSTANCE and HOMEPORT_IMAGES, the beginning of the names of its images.
 */
export const agentProgram = `'use strict'
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { createServer } = require('node:https')
const { request } = require('node:http')
const { connect } = require('node:net')

const socketPath = '/var/run/docker.sock'
const { HOMEPORT_INSTANCE: instance, HOMEPORT_IMAGES: images } = process.env
const ownContainers = new Set()
const ownExecs = new Set()

const readJson = (path) =>
  new Promise((resolve, reject) => {
    request({ socketPath, path }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => resolve(response.statusCode === 200 ? JSON.parse(text) : undefined))
    }).on('error', reject).end()
  })

const isOwnContainer = async (id) => {
  if (ownContainers.has(id)) return true
  const labels = (await readJson('/containers/' + id + '/json'))?.Config.Labels ?? {}
  if (labels['homeport.instance'] !== instance || labels['homeport.role'] !== 'task') return false
  ownContainers.add(id)
  return true
}

const startExec = /^POST \\/exec\\/([0-9a-f]{64})\\/start$/
const isOwnImage = (name) => name.startsWith(images + '/') || name.startsWith(images + '-images@')
const isOwnExec = (id) => ownExecs.has(id)
const routes = [
  [/^GET \\/_ping$/, () => true],
  [/^GET \\/containers\\/([0-9a-f]{64})\\/(?:json|stats|changes)$/, isOwnContainer],
  [/^(?:GET|HEAD) \\/containers\\/([0-9a-f]{64})\\/archive$/, isOwnContainer],
  [/^POST \\/containers\\/([0-9a-f]{64})\\/(?:pause|unpause|stop|exec)$/, isOwnContainer],
  [startExec, isOwnExec],
  [/^GET \\/exec\\/([0-9a-f]{64})\\/json$/, isOwnExec],
  [/^DELETE \\/images\\/([\\w.:@\\/[\\]-]+)$/, (name) => isOwnImage(name) && !name.includes('..')],
]
// What Homeport asks the agent itself.
const answers = {
  '/clock': () => ({ now: Date.now() }),
  '/own-images': async () => ((await readJson('/images/json')) ?? []).flatMap(({ RepoDigests }) => (RepoDigests ?? []).filter(isOwnImage)),
}

const routeOf = ({ method, url }) => method + ' ' + url.replace(/\\?.*$/, '').replace(/^\\/v1\\.\\d+(?=\\/)/, '')
const isAllowed = async (incoming) => {
  for (const [pattern, check] of routes) {
    const found = pattern.exec(routeOf(incoming))
    if (found) return check(found[1])
  }
  return false
}

const { cert, key, ca } = JSON.parse(readFileSync('/run/secrets/agent', 'utf8'))
// Half-open, because the input of an exec ends before its output.
const options = { cert, key, ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3', allowHalfOpen: true }
const server = createServer(options, async (incoming, outgoing) => {
  const refuse = (status, message) => outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  try {
    const answer = incoming.method === 'GET' && Object.hasOwn(answers, incoming.url) ? await answers[incoming.url]() : undefined
    if (answer) return outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    if (!(await isAllowed(incoming))) return refuse(403, 'The agent of Homeport does not allow ' + incoming.method + ' ' + incoming.url + '.')
    const isExec = /\\/exec$/.test(routeOf(incoming))
    const forwarded = request({ socketPath, method: incoming.method, path: incoming.url, headers: incoming.headers }, (response) => {
      outgoing.writeHead(response.statusCode, response.headers)
      if (!isExec) return response.pipe(outgoing)
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => {
        const id = /"Id":"([0-9a-f]{64})"/.exec(text)?.[1]
        if (id) ownExecs.add(id)
        if (ownExecs.size > 1000) ownExecs.delete(ownExecs.values().next().value)
        outgoing.end(text)
      })
    })
    forwarded.on('error', (error) => {
      if (outgoing.headersSent) outgoing.destroy()
      else refuse(502, error.message)
      // The engine has restarted with another socket, which the next task gets.
      if (error.code === 'ECONNREFUSED') setTimeout(() => process.exit(1), 100)
    })
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  } catch (error) {
    refuse(502, error.message)
  }
})
/** The body of a request for another protocol, and what came after it. */
const readBody = async (incoming, socket, head) => {
  const length = Number(incoming.headers['content-length'] ?? 0)
  if (!(length <= 65536)) throw new Error('The body is too large.')
  let bytes = head
  while (bytes.length < length) {
    const part = socket.read()
    if (part === null) await Promise.race([once(socket, 'readable'), once(socket, 'close').then(() => Promise.reject(new Error('The client has left.')))])
    else bytes = Buffer.concat([bytes, part])
  }
  return [bytes.subarray(0, length), bytes.subarray(length)]
}

// Only the start of an exec becomes a plain stream, and only once the engine has agreed: on another connection to it, requests could follow unchecked.
server.on('upgrade', async (incoming, socket, head) => {
  socket.on('error', () => {})
  const refuse = (status) => socket.end('HTTP/1.1 ' + status + ' Refused\\r\\ncontent-length: 0\\r\\nconnection: close\\r\\n\\r\\n')
  try {
    if (!startExec.test(routeOf(incoming)) || !(await isAllowed(incoming))) return refuse(403)
    const [body, rest] = await readBody(incoming, socket, head)
    const forwarded = request({ socketPath, method: incoming.method, path: incoming.url, headers: incoming.headers })
    forwarded.on('error', () => refuse(502))
    forwarded.on('response', (response) => {
      response.resume()
      refuse(response.statusCode)
    })
    forwarded.on('upgrade', (_response, engine, first) => {
      engine.on('error', () => socket.destroy())
      engine.on('close', () => socket.end())
      socket.on('close', () => engine.destroy())
      socket.write('HTTP/1.1 101 UPGRADED\\r\\nconnection: Upgrade\\r\\nupgrade: tcp\\r\\n\\r\\n')
      socket.write(first)
      engine.write(rest)
      socket.pipe(engine).pipe(socket)
    })
    forwarded.end(body)
  } catch {
    refuse(502)
  }
})
server.listen(7443)
process.on('SIGTERM', () => process.exit())
`
