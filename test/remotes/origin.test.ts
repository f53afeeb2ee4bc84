import { describe, expect, test } from 'vitest'
import { Problem } from '../../server/contract/errors.ts'
import { isPrivateAddress, parseOrigin } from '../../server/remotes/origin.ts'

const isOwn = (url: URL) => url.host === 'localhost:4400'
function refused(text: string): string {
  try {
    return `taken as ${parseOrigin(text, isOwn)}`
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_input' && error.issues?.[0]?.path === 'url') return error.message
    throw error
  }
}

describe('the address of a remote', () => {
  test.each([
    ['https://deploy.example.com', 'https://deploy.example.com'],
    [' https://deploy.example.com/ ', 'https://deploy.example.com'],
    ['https://Deploy.Example.com:443', 'https://deploy.example.com'],
    ['https://deploy.example.com:8443/', 'https://deploy.example.com:8443'],
    ['https://93.184.216.34', 'https://93.184.216.34'],
    ['http://127.0.0.1:4401', 'http://127.0.0.1:4401'],
    ['http://localhost:4401', 'http://localhost:4401'],
    ['http://192.168.1.7:4400', 'http://192.168.1.7:4400'],
    ['http://10.0.0.1', 'http://10.0.0.1'],
    ['http://[::1]:4401', 'http://[::1]:4401'],
    ['http://[fd00::1]', 'http://[fd00::1]'],
    ['http://nas.local:4400', 'http://nas.local:4400'],
    // The addresses of its hostname are checked when connecting.
    ['http://nas.example.com', 'http://nas.example.com'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('%s is accepted', (text, origin) => expect(parseOrigin(text, isOwn)).toBe(origin))

  test.each([
    ['', /not a valid instance address/],
    ['deploy.example.com', /https:\/\/deploy\.example\.com/],
    ['ftp://deploy.example.com', /not a valid instance address/],
    ['file:///etc/passwd', /not a valid instance address/],
    ['javascript:alert(1)', /not a valid instance address/],
    ['unix:///var/run/docker.sock', /not a valid instance address/],
    ['https://', /not a valid instance address/],
    ['https://user@deploy.example.com', /user name and password/],
    ['https://user:secret@deploy.example.com', /user name and password/],
    ['https://deploy.example.com/app/', /use https:\/\/deploy\.example\.com/],
    ['https://deploy.example.com/?token=x', /Remove everything after the host/],
    ['https://deploy.example.com/#x', /Remove everything after the host/],
    ['http://93.184.216.34', /unencrypted/],
    ['http://2130706433.example:x', /not a valid instance address/],
    ['http://[2606:2800:220:1::1]', /unencrypted/],
    ['http://[::ffff:5db8:d822]', /unencrypted/],
    ['http://localhost:4400', /this instance/],
  ])('%s is refused', (text, says) => expect(refused(text)).toMatch(says))

  test('in another notation counts as the address that it means', () => {
    expect(parseOrigin('http://0x7f.1:4401', isOwn)).toBe('http://127.0.0.1:4401')
    expect(refused('http://0x5db8d822')).toMatch(/unencrypted/)
  })
})

test('only this machine and its local network are private', () => {
  const near = [
    '127.0.0.1',
    '127.8.8.8',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '::1',
    'fc00::1',
    'fd12::1',
  ]
  const far = [
    '0.0.0.0',
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '192.169.0.1',
    '100.128.0.1',
    '128.0.0.1',
    '::',
    '2001:db8::1',
    'ff02::1',
    'example.com',
    '',
  ]
  expect([...near, 'fe80::1', 'febf::1', '::ffff:10.0.0.1'].filter((one) => !isPrivateAddress(one))).toEqual([])
  expect([...far, 'fec0::1', '::ffff:8.8.8.8'].filter((one) => isPrivateAddress(one))).toEqual([])
})
