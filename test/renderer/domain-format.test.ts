import { describe, expect, it } from 'vitest'
import type { DomainOffer } from '../../server/contract/domains.ts'
import {
  domainUrl,
  amountDue_cents,
  dnsHostLabel,
  parseHostname,
  isPrivateName,
  formatMoney,
  totalPrice_cents,
  addressScope,
} from '../../renderer/features/domains/domain-format.ts'

const offer: DomainOffer = {
  hostname: 'harbour.example',
  available: true,
  premium: false,
  price_cents: 900,
  renewal_price_cents: 1200,
  currency: 'USD',
  period_years: 1,
  free_with_credit: false,
}

describe('an entered domain', () => {
  it.each([
    [' Blog.Example.COM. ', 'blog.example.com'],
    ['https://blog.example.com:8443/path?query#part', 'blog.example.com'],
    ['example.com', 'example.com'],
    ['', ''],
  ])('%j is %j', (text, hostname) => expect(parseHostname(text)).toBe(hostname))

  it.each([
    ['example.com', '@'],
    ['blog.example.com', 'blog'],
    ['a.b.example.com', 'a.b'],
  ])('%s is %s for a registrar that expects the part before the domain', (hostname, part) => expect(dnsHostLabel(hostname)).toBe(part))

  it('is private if public DNS cannot resolve it', () => {
    expect(['boats.test', 'a.internal', 'x.home.arpa'].every(isPrivateName)).toBe(true)
    expect(['boats.com', 'test', 'contest', 'home.arpa.org'].some(isPrivateName)).toBe(false)
  })
})

describe('an address of a domain', () => {
  it.each([
    ['127.0.0.1', 'machine'],
    ['192.168.1.20', 'network'],
    ['172.31.0.1', 'network'],
    ['172.32.0.1', null],
    ['100.64.0.1', 'network'],
    ['203.0.113.7', null],
  ])('%s is an address of the %s', (address, reach) => expect(addressScope(address)).toBe(reach))

  it('has the port of the edge, and none for a standard port', () => {
    expect(domainUrl('blog.example.com', 'http://127.0.0.1:4680')).toBe('http://blog.example.com:4680')
    expect(domainUrl('blog.example.com', 'https://apps.example.org')).toBe('https://blog.example.com')
    expect(domainUrl('blog.example.com', 'javascript:alert(1)')).toBeNull()
  })
})

describe('the price', () => {
  it('is the first year at its price, the others at the renewal price', () => {
    expect(totalPrice_cents(offer, 1)).toBe(900)
    expect(totalPrice_cents(offer, 3)).toBe(3300)
    expect(totalPrice_cents({ ...offer, renewal_price_cents: null }, 2)).toBe(1800)
    expect(totalPrice_cents({ ...offer, price_cents: null }, 1)).toBeNull()
  })

  it('is reduced by a year per credit, except for a premium name', () => {
    expect(amountDue_cents(offer, 1, 1)).toBe(0)
    expect(amountDue_cents(offer, 3, 2)).toBe(1200)
    expect(amountDue_cents(offer, 2, 5)).toBe(0)
    expect(amountDue_cents({ ...offer, premium: true }, 1, 5)).toBe(900)
  })

  it('is formatted in its currency, even an unknown one', () => {
    expect(formatMoney(1299, 'USD')).toContain('12.99')
    expect(formatMoney(1299, 'doubloons')).toBe('12.99 doubloons')
  })
})
