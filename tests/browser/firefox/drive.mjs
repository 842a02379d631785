// Does one job on a page of the site in Firefox, and writes what was seen as JSON.
//
//     node drive.mjs FIREFOX ADDRESS JOB.json
//
// Playwright drives Chromium in the tests beside this; it cannot drive a Firefox as it comes from a
// distribution, which Puppeteer can, by WebDriver BiDi.

import { readFile } from "node:fs/promises";
import puppeteer from "puppeteer-core";

const [, , executablePath, site, file] = process.argv;
const job = JSON.parse(await readFile(file, "utf8"));
const problems = [];

const browser = await puppeteer.launch({ browser: "firefox", executablePath });
const page = await browser.newPage();
page.setDefaultTimeout(120_000);
page.on("console", message => {
  if (["error", "warn"].includes(message.type())) problems.push(message.text());
});
page.on("pageerror", error => problems.push(`error: ${error.message}`));
page.on("request", request => {
  if (!request.url().startsWith(site) && !/^(data|blob|about):/.test(request.url()))
    problems.push(`a request to ${request.url()}`);
});
page.on("response", response => {
  if (response.status() >= 400) problems.push(`${response.status()} for ${response.url()}`);
});

/** Click the first button with this text that lies within `where`. */
async function press(text, where = "body") {
  await page.waitForFunction((text, where) => {
    const buttons = [...document.querySelectorAll(`${where} button`)];
    const found = buttons.find(each => each.textContent.trim() === text && each.offsetParent);
    found?.click();
    return found !== undefined;
  }, {}, text, where);
}

/** Put a text in the place of all that is in the editor within `where`. */
async function write(where, text) {
  await page.waitForSelector(`${where} .cm-content`);
  await page.focus(`${where} .cm-content`);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.evaluate(text => document.execCommand("insertText", false, text), text);
}

/** Write files into the editor of an exercise. */
async function put(where, texts) {
  for (const [path, text] of Object.entries(texts)) {
    if (await page.$(`${where} .mg-files`)) await press(path, `${where} .mg-files`);
    await page.waitForSelector(`${where} .cm-content`);
    const whole = await page.$$eval(`${where} .mg-tools button`, all =>
      all.find(each => each.textContent === "Whole file").ariaPressed === "true");
    if (!whole) await press("Whole file", where);
    await write(where, text);
  }
}

const python = state => page.waitForSelector(`html[data-mg-python=${state}]`);
const texts = selector =>
  page.$$eval(selector, all => all.map(each => each.textContent.trim()));

const jobs = {
  /** Run all blocks of a lesson: how each ended and what it gave, beside its id. */
  async lesson({ last }) {
    await press("Run all");
    await page.waitForFunction(
      id => /^(?!runs …)./.test(document.querySelector(`#${id} .mg-result`).textContent),
      {}, last);
    return page.$$eval("[data-result]", all =>
      Object.fromEntries(all.map(each => [each.id, [each.dataset.result,
        each.querySelector(".mg-live")?.textContent ?? ""]])));
  },

  /** Test the stubs, then the solutions, then one mistake: the states, and what was said of it. */
  async exercises({ solutions, mistake, hole }) {
    const tested = async () => {
      await press("Test all");
      await page.waitForFunction(() => document.querySelectorAll(".mg-verdict").length
        === document.querySelectorAll(".mg-exercise").length);
      return page.$$eval(".mg-verdict", all => all.map(each => [each.dataset.state,
        each.querySelector(".mg-failure")?.textContent ?? ""]));
    };
    const where = `.mg-exercise[data-hole="${hole}"]`;
    const stubs = await tested();
    await put(where, solutions);
    const solved = await tested();
    await put(where, mistake);
    await press("Run tests", where);
    await page.waitForSelector(`${where} .mg-verdict[data-state=wrong]`);
    return { stubs, solved, said: (await texts(`${where} .mg-diagnosis`))[0] };
  },

  /** The way of a first visit: play and run a program at home, run a block, solve an exercise, step through a pass, draw. */
  async visit({ hole, code }) {
    const figure = async (address, name, control, ...keys) => {
      await page.goto(site + address);
      await page.waitForSelector("html[data-mg-widgets]");
      const [before] = await texts(`#figure-${name} .mg-says`);
      for (const key of keys) {
        await page.$$eval(`#figure-${name} ${control}`, all => // wide and narrow: one is seen
          all.find(each => each.checkVisibility()).focus());
        await page.keyboard.press(key);
      }
      return [before, (await texts(`#figure-${name} .mg-says`))[0]];
    };
    const home = await figure("", "live-graph", "input[type=range]", "ArrowRight");
    await press("Run", "#figure-live-graph");
    await page.waitForFunction(() => document.querySelector(".mg-ran")?.textContent.includes("grad"));
    const [cell] = await texts(".mg-ran");

    await page.goto(`${site}lessons/02_graph/`);
    await page.waitForSelector("html[data-mg-ready]");
    const block = `#${await page.$eval(".mg-block:has(.mg-tools)", each => each.id)}`;
    await press("Run", block);
    await page.waitForSelector(`${block}[data-result]`);
    const ran = await page.$eval(block, each => each.dataset.result);

    await page.goto(`${site}lessons/00_chain_rule/`);
    await page.waitForSelector("html[data-mg-ready]");
    const exercise = `[data-hole="${hole}"]`;
    await page.$eval(exercise, each => each.scrollIntoView());
    await write(exercise, code);
    await press("Run tests", exercise);
    await page.waitForSelector(`${exercise} .mg-verdict`);
    const verdict = await page.$eval(`${exercise} .mg-verdict`, each => each.dataset.state);
    const [printed] = await texts(`${exercise} .mg-printed`);

    const stepper = await figure("lessons/03_engine/", "stepper", "[data-by='1']", "Enter", "Enter");
    const digit = await figure("lessons/14_capstone/?digit.ink=", "digit", "[data-drag=pen]",
                               "ArrowUp", "ArrowLeft");
    return { home, cell, ran, verdict, printed, stepper, digit };
  },

  /** Stop a loop that does not end; what was made before it is still there. */
  async loop() {
    const block = `#${await page.$eval(".mg-block:has(.mg-tools)", each => each.id)}`;
    await press("Edit", block);
    await write(block, "kept = 5\nprint('before')\nwhile True:\n    pass");
    await press("Run", block);
    await python("busy");
    await page.waitForSelector(`${block} .mg-out`); // told before the loop, which never ends
    await press("Stop", block);
    await page.waitForFunction(where => document.querySelector(`${where} .mg-result`).textContent
      .includes("stopped"), {}, block);
    await write(block, "print(kept)");
    await press("Run", block);
    await page.waitForFunction(where => document.querySelector(`${where} .mg-out`), {}, block);
    return texts(`${block} .mg-out`);
  },
};

let seen;
try {
  await page.goto(site + job.address);
  await page.waitForSelector("html[data-mg-ready], html[data-mg-widgets]");
  seen = await jobs[job.kind](job);
} finally {
  await browser.close();
}
console.log(JSON.stringify({ seen, problems }));
