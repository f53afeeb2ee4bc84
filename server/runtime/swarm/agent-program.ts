/**
 * The program of a node agent: it lets Homeport reach the containers of its own apps at the Docker engine of the node, over TLS with certificates on both
 * sides, and nothing else of that engine. It runs in an image of Node on each node, so it is a text without imports of ours. In its environment are
 * HOMEPORT_INSTANCE and HOMEPORT_IMAGES, the beginning of the names of the instance's images.
 */
export const agentProgram = `'use strict'
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

const routes = [
  [/^GET \\/(?:_ping|version)$/, () => true],
  [/^GET \\/containers\\/([0-9a-f]{64})\\/(?:json|stats|logs)$/, isOwnContainer],
  [/^POST \\/containers\\/([0-9a-f]{64})\\/(?:pause|unpause|stop|exec)$/, isOwnContainer],
  [/^(?:POST \\/exec\\/([0-9a-f]{64})\\/start|GET \\/exec\\/([0-9a-f]{64})\\/json)$/, (started, read) => ownExecs.has(started ?? read)],
  [/^GET \\/images\\/json$/, () => true],
  [/^DELETE \\/images\\/(.+)$/, (name) => decodeURIComponent(name).startsWith(images)],
]

const isAllowed = async ({ method, url }) => {
  const path = url.replace(/\\?.*$/, '').replace(/^\\/v1\\.\\d+(?=\\/)/, '')
  for (const [pattern, check] of routes) {
    const found = pattern.exec(method + ' ' + path)
    if (found) return check(...found.slice(1))
  }
  return false
}

const { cert, key, ca } = JSON.parse(readFileSync('/run/secrets/agent', 'utf8'))
// Half-open, because the input of an exec ends before its output.
const options = { cert, key, ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3', allowHalfOpen: true }
const server = createServer(options, async (incoming, outgoing) => {
  const refuse = (status, message) => outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  try {
    if (!(await isAllowed(incoming))) return refuse(403, 'The agent of Homeport does not allow ' + incoming.method + ' ' + incoming.url + '.')
    const isExec = incoming.method === 'POST' && /\\/containers\\/[0-9a-f]{64}\\/exec$/.test(incoming.url)
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
// The start of an exec with input and output becomes a plain stream.
server.on('upgrade', async (incoming, socket, head) => {
  socket.on('error', () => {})
  if (!(await isAllowed(incoming).catch(() => false))) return socket.end('HTTP/1.1 403 Forbidden\\r\\ncontent-length: 0\\r\\nconnection: close\\r\\n\\r\\n')
  const { rawHeaders } = incoming
  const lines = [incoming.method + ' ' + incoming.url + ' HTTP/1.1']
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(rawHeaders[i] + ': ' + rawHeaders[i + 1])
  const engine = connect(socketPath)
  engine.on('error', () => socket.destroy())
  engine.on('close', () => socket.end())
  socket.on('close', () => engine.destroy())
  engine.write(lines.join('\\r\\n') + '\\r\\n\\r\\n')
  engine.write(head)
  socket.pipe(engine).pipe(socket)
})
server.listen(7443)
process.on('SIGTERM', () => process.exit())
`
