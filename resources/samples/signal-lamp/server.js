import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { spell } from './morse.js'

const page = await readFile(new URL('page.html', import.meta.url))
const beat_ms = 110
const longest = 60
let sent = 0

const server = createServer(async (request, response) => {
  if (request.method === 'POST' && request.url === '/send') {
    const text = (await bodyOf(request)).trim().toUpperCase().slice(0, longest)
    const letters = spell(text)
    if (letters.length === 0) return answer(response, 400, { error: 'Use letters A to Z and digits.' })
    answer(response, 200, { number: ++sent, beat_ms, letters })
    return flash(sent, letters)
  }
  if (request.method !== 'GET' || request.url !== '/') return answer(response, 404, { error: 'Not found.' })
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
})

/** Writes each letter to the log while the lamp sends it. */
async function flash(number, letters) {
  console.log(`\x1b[36mmessage ${number}\x1b[0m ${letters.map(({ letter }) => letter).join('')}`)
  for (const { letter, signs } of letters) {
    if (signs !== '') console.log(`  \x1b[1m${letter}\x1b[0m \x1b[33m${[...signs].map((sign) => (sign === '-' ? '━━━' : '●')).join(' ')}\x1b[0m`)
    await new Promise((wake) => setTimeout(wake, beat_ms * (3 + [...signs].reduce((beats, sign) => beats + (sign === '-' ? 4 : 2), 0))))
  }
  console.log(`\x1b[32mmessage ${number} sent\x1b[0m`)
}

async function bodyOf(request) {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) if (text.length < 1_000) text += chunk
  return text
}

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

// Homeport sets PORT and HOST.
server.listen(process.env.PORT ?? 3000, process.env.HOST, () => console.log(`Listening on port ${server.address().port}`))
process.on('SIGTERM', () => process.exit(0))
