import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { isLanAddress, readLanAddresses } from '../../server/network/lan-addresses.ts'
import { readOptions } from '../../server/options.ts'

const info = (address: string, internal = false): NetworkInterfaceInfo => {
  const common = { address, internal, netmask: '', mac: '', cidr: null }
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 0 } : { ...common, family: 'IPv4' }
}

describe('addresses on the network around this machine', () => {
  test.each(['10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.178.20', 'fd00::2', 'fc12:3456::1'])('%s is local', (address) => {
    expect(isLanAddress(address)).toBe(true)
  })
  test.each([
    '203.0.113.9',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '192.169.0.1',
    '100.64.0.1',
    '169.254.1.1',
    '127.0.0.1',
    '0.0.0.0',
    '1.10.0.0',
    '2001:db8::1',
    'fe80::1',
    '::1',
    '::',
    'fd00.example',
  ])('%s is not local', (address) => {
    expect(isLanAddress(address)).toBe(false)
  })

  test('are those of real interfaces, IPv4 first, each once', () => {
    const found = readLanAddresses({
      lo: [info('127.0.0.1', true), info('::1', true)],
      eth0: [info('fd00::2'), info('192.168.1.20'), info('203.0.113.9'), info('fe80::1')],
      'Local Area Connection': [info('10.1.2.3')],
      en0: [info('192.168.1.20')],
      docker0: [info('172.17.0.1')],
      'br-0af1': [info('172.18.0.1')],
      utun3: [info('10.8.0.2')],
      'vEthernet (WSL)': [info('172.20.0.1')],
      gone: undefined,
    })
    expect(found).toEqual(['192.168.1.20', '10.1.2.3', 'fd00::2'])
  })
})

test.each([{ flags: { host: '' } }, { flags: { host: ' ' } }, { flags: {}, env: { HOMEPORT_HOST: '' } }])(
  'an empty host ($flags, $env) means this machine only, not all of its addresses',
  ({ flags, env = {} }) => expect(readOptions(flags, env).host).toBe('127.0.0.1'),
)
