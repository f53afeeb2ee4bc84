import { describe, expect, test } from 'vitest'
import { createFieldMask, maskForm, maskHeader, maskMultipart, maskText } from '../../server/lib/field-mask.ts'

const isMasked = createFieldMask(['X-Signature', 'ssn'])
const json = (text: string) => maskText(text, isMasked)

describe('headers', () => {
  test.each([
    ['Authorization', 'Bearer s3cret', '***'],
    ['COOKIE', 'a=s3cret', '***'],
    ['set-cookie', 'a=s3cret; Path=/', '***'],
    ['proxy-authorization', 's3cret', '***'],
    ['X-Api-Key', 's3cret', '***'],
    ['x_signature', 's3cret', '***'],
    ['Stripe-Signature', 't=1,v1=abc', 't=1,v1=abc'],
    ['Referer', 'http://a.localhost/?page=1&token=s3cret#x', 'http://a.localhost/?page=1&token=***#x'],
    ['Location', '/back?access%5Ftoken=s3cret', '/back?access%5Ftoken=***'],
    ['Location', 'https://a.localhost/callback?code=s3cret&state=s3cret&page=1', 'https://a.localhost/callback?code=***&state=***&page=1'],
    ['Link', '<https://cdn.example.com/a?signature=s3cret>; rel=next', '<https://cdn.example.com/a?signature=***>; rel=next'],
    ['Content-Type', 'text/html; charset=utf-8', 'text/html; charset=utf-8'],
  ])('%s: %s', (name, value, masked) => expect(maskHeader(name, value, isMasked)).toBe(masked))
})

describe('JSON', () => {
  test.each([
    ['{"password":"s3cret","name":"x"}', '{"password":"***","name":"x"}'],
    ['{ "user": { "Password" : "s3cret" , "age": 3 } }', '{ "user": { "Password" : "***" , "age": 3 } }'],
    ['{"SSN":12345,"s_s_n":"1"}', '{"SSN":"***","s_s_n":"***"}'],
    ['[{"client_secret":{"a":["s3cret","}"]},"b":1}]', '[{"client_secret":"***","b":1}]'],
    [String.raw`{"pass\u0077ord":"s3cret"}`, String.raw`{"pass\u0077ord":"***"}`],
    [String.raw`{"token":"a\"s3cret","x":1}`, '{"token":"***","x":1}'],
    [String.raw`{"payload":"{\"token\":\"s3cret\",\"a\":1}"}`, String.raw`{"payload":"{\"token\":\"***\",\"a\":1}"}`],
    ['{"message":"password: s3cret"}', '{"message":"password: ***"}'],
    ['{"password":null,"ok":true}', '{"password":"***","ok":true}'],
  ])('%s', (text, masked) => expect(json(text)).toBe(masked))

  test.each([
    ['cut in a value', '{"a":1,"password":"s3cr'],
    ['cut in an object', '{"a":1,"credentials":{"user":"s3cr'],
    ['without quotes', "{password: 's3cr', a: 1}"],
    ['without an end of the object', '{"password":"s3cr" "a"'],
    ['after an odd quote', '{"a":"x, " "password":"s3cr"}'],
    ['in a line of a log', 'user=1 password=s3cr token: Bearer s3cr'],
    ['in lines of JSON', '{"a":1}\n{"token":"s3cr"}\n'],
    ['in XML', '<a><password type="x">s3cr</password><apiKey><![CDATA[s3cr]]></apiKey></a>'],
    ['in an attribute', '<a password="s3cr"/>'],
  ])('%s', (_, text) => {
    const masked = json(text)
    expect(masked).not.toContain('s3cr')
    expect(masked).toContain('***')
  })

  test('keeps everything else as sent', () => {
    const text = '{ "a" : [1, 2.50, "tok en"],\n\t"b":"\\u00e9" }'
    expect(json(text)).toBe(text)
  })

  test('handles long texts of one kind', () => {
    expect(json('a'.repeat(65_536))).toHaveLength(65_536)
    expect(json('"password":'.repeat(6_000)).length).toBeLessThan(65_536)
    expect(json('{"a":'.repeat(12_000))).toHaveLength(60_000)
  })
})

describe('forms', () => {
  test.each([
    ['user=x&password=s3cret&b=1', 'user=x&password=***&b=1'],
    ['user%5Bpassword%5D=s3cret', 'user%5Bpassword%5D=***'],
    ['PASSWORD=s3cret+more', 'PASSWORD=***'],
    ['payload=%7B%22token%22%3A%22s3cret%22%7D', `payload=${encodeURIComponent('{"token":"***"}')}`],
    ['a[ssn]=s3cret&%zz=1', 'a[ssn]=***&%zz=1'],
  ])('%s', (text, masked) => expect(maskForm(text, isMasked)).toBe(masked))

  test('multipart, with a file that is no text', () => {
    const part = (head: string, body: string) => `--b0\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
    const form = (password: string) =>
      `${part('name="user"', 'me')}${part('name="password"', password)}${part('name="f"; filename="a.png"', 'token=\0\xff')}--b0--\r\n`
    expect(maskMultipart(form('s3cret'), 'b0', isMasked)).toBe(form('***'))
    expect(maskMultipart(form('s3cret').slice(0, 130), 'b0', isMasked)).not.toContain('s3c')
  })
})
