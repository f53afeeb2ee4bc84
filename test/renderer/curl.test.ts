import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { EdgeUrls } from '../../server/contract/request-url.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import { toCurl } from '../../renderer/features/requests/curl.ts'

const edge = { edge_url: 'http://localhost:4443', edge_https_url: 'https://localhost:4444' }
const curlOf = (request: Partial<LoggedRequest>, urls: EdgeUrls = edge) =>
  toCurl({ method: 'GET', scheme: 'http', host: 'shop.localhost', path: '/', query: null, ...request } as LoggedRequest, urls)

test('is a command with the port where apps answer', () => {
  expect(curlOf({})).toBe("curl --include 'http://shop.localhost:4443/'")
  expect(curlOf({ scheme: 'https', query: 'page=2&token=***' })).toBe("curl --include 'https://shop.localhost:4444/?page=2&token=***'")
  expect(curlOf({ scheme: 'https' }, { edge_url: 'http://localhost', edge_https_url: null })).toBe("curl --include 'https://shop.localhost/'")
  expect(curlOf({ method: 'HEAD' })).toBe("curl --head 'http://shop.localhost:4443/'")
  expect(curlOf({ method: 'DELETE' })).toBe("curl --include --request DELETE 'http://shop.localhost:4443/'")
})

test('a shell reads what others wrote as text', () => {
  const hostile = "/'$(id)`id`;\\ \"'"
  const command = curlOf({ method: '$(id)', path: hostile })
  const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
  expect(words.trimEnd().split('\n')).toEqual(['curl', '--include', '--request', '$(id)', `http://shop.localhost:4443${hostile}`])
})
