DROP TABLE leasehold_http_request;
DROP TABLE leasehold_audit;
DROP TABLE leasehold_api_token;
