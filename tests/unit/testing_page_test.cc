// The C++ example of docs/testing.md, which CMake takes out of the page, with a program around it that it can test.
#include <gtest/gtest.h>

#include <string>

#include "leasehold/testing.h"

static bool mail_server_runs = false;

static void start_mail_server() { mail_server_runs = true; }

static void sign_up(const leasehold::Store& store, const std::string& name) {
  store.jobs().enqueue("mail", {.payload = R"({"to":")" + name + R"("})"}).value();
}

static leasehold::Verdict send_mail(const leasehold::Job& /*job*/, leasehold::JobContext& /*context*/) {
  return mail_server_runs ? leasehold::Verdict::complete() : leasehold::Verdict::fail("the mail server is down");
}

#include "testing_page_example.inc"
