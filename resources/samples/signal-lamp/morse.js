const letters = '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'.split(' ')
const digits = '----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.'.split(' ')

/** Each letter with its signs; a space has none. Characters without Morse code are dropped. */
export function spell(text) {
  return [...text].flatMap((letter) => {
    if (letter === ' ') return [{ letter, signs: '' }]
    const signs = letters[letter.charCodeAt(0) - 65] ?? digits[letter.charCodeAt(0) - 48]
    return signs === undefined ? [] : [{ letter, signs }]
  })
}
